// Spec: Projects (DELETE); Project (status).
import { beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { codeOf, createKey, createProject, newSubject } from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { waitPatiently } from '../../../support/patient-database.ts';
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
let project: ProjectRecord;
let path: string;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}`;
});

const count = async (table: 'audit_log' | 'purges', more = '') => {
  const rows = await api.db.query(`select 1 from ${table} where project_id = $1 ${more}`, [
    project.project_id,
  ]);
  return rows.length;
};
const deletions = () => count('audit_log', `and action = 'project.delete'`);

describe('DELETE /v1/projects/{slug}', () => {
  it('suspends the project as its owner, and keeps its files', async () => {
    await makeFile(api.db, project, { file_slug: 'a.png' });
    const answer = await owner('DELETE', path);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const { body } = await owner('GET', path);
    expect(body).toMatchObject({ status: 'suspended', suspended_by: 'owner', file_count: 1 });
    expect((await owner('GET', `${path}/files/a.png`)).status).toBe(200);
    expect((await owner('PATCH', path, { status: 'active' })).body.status).toBe('active');
  });

  it('stops the project’s API keys immediately', async () => {
    const call = api.withKey(await createKey(owner, project.project_slug));
    expect((await call('GET', path)).status).toBe(200);
    await owner('DELETE', path);
    expect(codeOf(await call('GET', path))).toBe('401 unauthorized');
  });

  it('is audited and purged once for concurrent and repeated requests', async () => {
    waitPatiently(api);
    const answers = await Promise.all(Array.from({ length: 12 }, () => owner('DELETE', path)));
    expect(answers.map(codeOf)).toEqual(answers.map(() => '204'));
    expect(codeOf(await owner('DELETE', path))).toBe('204');
    expect([await deletions(), await count('purges')]).toEqual([1, 2]);
  });

  it('does not take over a suspension by staff', async () => {
    await staff('PATCH', path, { status: 'suspended' });
    expect(codeOf(await owner('DELETE', path))).toBe('204');
    expect((await owner('GET', path)).body.suspended_by).toBe('staff');
    expect(await deletions()).toBe(0);
  });

  it('audits once that it takes over a suspension caused by the deletion of the project’s resource', async () => {
    await api.db.query(
      `update projects set status = 'suspended', suspended_by = 'owner', suspended_by_deletion = true
       where project_id = $1`,
      [project.project_id],
    );
    await owner('DELETE', path);
    await owner('DELETE', path);
    const entries = await api.db.query(
      `select before, after from audit_log where action = 'project.delete' and project_id = $1`,
      [project.project_id],
    );
    const [before, after] = [{ suspended_by_deletion: true }, { suspended_by_deletion: false }];
    expect(entries).toEqual([{ before, after }]);
  });

  it('is reserved for the owner: staff get 404 not_found for another organization’s project', async () => {
    expect(codeOf(await staff('DELETE', path))).toBe('404 not_found');
    expect((await owner('GET', path)).body.status).toBe('active');
    const own = await createProject(staff);
    await staff('DELETE', `/v1/projects/${own.project_slug}`);
    const { body } = await staff('GET', `/v1/projects/${own.project_slug}`);
    expect(body.suspended_by).toBe('owner');
  });
});

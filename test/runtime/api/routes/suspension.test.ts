// Spec: Project (status); Projects (PATCH status); Rules 2 (keys of a suspended project).
import { beforeEach, describe, expect, it } from 'vitest';
import { completeUpload } from '../../../../runtime/actions/complete-upload.ts';
import { createUpload } from '../../../../runtime/actions/create-upload.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { findProject } from '../../../../runtime/db/projects.ts';
import { findUpload } from '../../../../runtime/db/uploads.ts';
import { codeOf, createKey, createProject, newSubject } from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { makeFile, must } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
let project: ProjectRecord;
let path: string;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}`;
});

const suspension = ({ body }: { body: ProjectRecord }) => [body.status, body.suspended_by];
const suspend = async (call: typeof owner) =>
  suspension(await call('PATCH', path, { status: 'suspended' }));
const activate = async (call: typeof owner) =>
  suspension(await call('PATCH', path, { status: 'active' }));

describe('a suspension', () => {
  it('names who suspended the project, and can be ended by the owner who began it', async () => {
    expect(await suspend(owner)).toEqual(['suspended', 'owner']);
    expect(await suspend(owner)).toEqual(['suspended', 'owner']);
    expect(await activate(owner)).toEqual(['active', null]);
    expect(await activate(owner)).toEqual(['active', null]);
  });

  it('can be ended only by staff if staff began it', async () => {
    expect(await suspend(staff)).toEqual(['suspended', 'staff']);
    const refused = await owner('PATCH', path, { status: 'active', name: 'Mine' });
    expect(codeOf(refused)).toBe('403 project_suspended_by_staff');
    expect((await owner('GET', path)).body).toMatchObject({
      status: 'suspended',
      name: project.name,
    });
    expect(await activate(staff)).toEqual(['active', null]);
  });

  it('can be taken over from the owner by staff, but not back', async () => {
    await suspend(owner);
    expect(await suspend(staff)).toEqual(['suspended', 'staff']);
    expect(await suspend(owner)).toEqual(['suspended', 'staff']);
    expect(codeOf(await owner('PATCH', path, { status: 'active' }))).toBe(
      '403 project_suspended_by_staff',
    );
  });

  it('can be ended by staff even if the owner began it', async () => {
    await suspend(owner);
    expect(await activate(staff)).toEqual(['active', null]);
  });
});

describe('a suspended project', () => {
  it('has keys that do not authenticate until it is active again', async () => {
    const call = api.withKey(await createKey(owner, project.project_slug));
    await suspend(owner);
    expect(codeOf(await call('GET', path))).toBe('401 unauthorized');
    expect(codeOf(await call('GET', '/v1/key'))).toBe('401 unauthorized');
    await activate(owner);
    expect(codeOf(await call('GET', path))).toBe('200');
  });

  it('rejects uploads and signed URLs of a session with 403 project_suspended', async () => {
    await makeFile(api.db, project, { file_slug: 'a.png' });
    await suspend(owner);
    const upload = { content_type: 'image/png', size_bytes: 1 };
    expect(codeOf(await owner('POST', `${path}/uploads`, upload))).toBe('403 project_suspended');
    const mint = await owner('POST', `${path}/signed-url`, { file_slug: 'a.png' });
    expect(codeOf(mint)).toBe('403 project_suspended');
  });

  it('does not complete an upload created before until it is active again', async () => {
    const bytes = Buffer.from('bytes that storage took');
    const request = { content_type: 'image/png', size_bytes: bytes.length };
    const { upload_id } = (await owner('POST', `${path}/uploads`, request)).body;
    const upload = must(await findUpload(api.db, upload_id));
    await suspend(owner);
    await api.deps().buckets.ingest.write(upload.ingest_key, bytes, request);
    const completing = completeUpload(api.deps(), upload);
    await expect(completing).rejects.toMatchObject({ code: 'project_suspended', status: 403 });
    expect((await owner('GET', `${path}/uploads/${upload_id}`)).body.status).toBe('created');
    await activate(owner);
    expect((await completeUpload(api.deps(), upload)).status).toBe('uploaded');
  });

  it('can be read and changed by a session as before', async () => {
    await suspend(owner);
    for (const read of ['', '/uploads', '/files', '/usage']) {
      expect(codeOf(await owner('GET', path + read)), read).toBe('200');
    }
    expect(codeOf(await owner('PATCH', path, { name: 'New' }))).toBe('200');
    expect(codeOf(await owner('POST', `${path}/keys`, { name: 'server' }))).toBe('201');
  });

  it('rejects an upload that was admitted just before the suspension', async () => {
    const before = must(await findProject(api.db, project.project_id));
    await suspend(owner);
    const late = createUpload(api.deps(), {
      project: before,
      input: { content_type: 'image/png', size_bytes: 1, mode: 'direct' },
    });
    await expect(late).rejects.toMatchObject({ code: 'project_suspended', status: 403 });
    const made = await api.db.query('select 1 from uploads where project_id = $1', [
      project.project_id,
    ]);
    expect(made).toEqual([]);
  });
});

// Spec: Files (DELETE); States and transitions, File; Watermark preset.
import { beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { findFile, updateFileBlocked } from '../../../../runtime/db/files.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import { id, makeFile, must } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;
let key: Caller;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/files`;
  key = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
});

const make = (file_slug = 'hero.png') => makeFile(api.db, project, { file_slug });
const remove = (file_slug = 'hero.png', call = key) => call('DELETE', `${path}/${file_slug}`);
const block = (file_id: string) =>
  api.db.transaction((tx) =>
    updateFileBlocked(tx, { file_id, blocked_by: 'scanner', reason: 'nudity' }),
  );

const counters = async () => {
  const { file_count, storage_bytes } = (await owner('GET', `/v1/projects/${project.project_slug}`))
    .body as ProjectRecord;
  return { file_count, storage_bytes };
};

const audited = () => auditEntries(api.db, project, 'file.delete', 'watermark_preset.delete');
const settings = () => auditEntries(api.db, project, 'project.update');

async function drawWith(file_id: string): Promise<string> {
  const preset = id('wm');
  await api.db.query(
    `insert into watermark_presets (watermark_preset_id, project_id, name, file_id)
     values ($1, $2, $3, $4)`,
    [preset, project.project_id, preset, file_id],
  );
  return preset;
}

describe('DELETE …/files/{fileSlug}', () => {
  it('answers 204 without a body, and the file is not found from then on', async () => {
    await make();
    const answer = await remove();
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(codeOf(await key('GET', `${path}/hero.png`))).toBe('404 file_not_found');
    expect((await key('GET', path)).body.items).toEqual([]);
    const gone = (await key('GET', `${path}?status=deleted`)).body.items;
    expect(gone).toMatchObject([{ file_slug: 'hero.png', status: 'deleted' }]);
  });

  it('answers 204 again and again, and changes nothing more', async () => {
    const kept = await make('kept.png');
    await make();
    await remove();
    const before = [await counters(), await audited(), await purgeCount()];
    for (const call of [key, owner, key]) expect((await remove('HERO.png', call)).status).toBe(204);
    expect([await counters(), await audited(), await purgeCount()]).toEqual(before);
    expect(await counters()).toEqual({ file_count: 1, storage_bytes: kept.size_bytes });
  });

  it('returns 404 file_not_found for a slug that never had a file, and for an invalid one', async () => {
    const other = await createProject(owner);
    await makeFile(api.db, other, { file_slug: 'theirs.png' });
    for (const slug of ['never.png', 'theirs.png', '-', 'x'.repeat(200), '%C3%A9']) {
      expect(codeOf(await remove(slug)), slug).toBe('404 file_not_found');
    }
    expect(await findFile(api.db, { ...other, file_slug: 'theirs.png' })).toBeDefined();
  });

  it('requires the scope files:write of a key', async () => {
    await make();
    const reader = api.withKey(await createKey(owner, project.project_slug, ['files:read']));
    expect(codeOf(await remove('hero.png', reader))).toBe('403 forbidden');
  });

  it('frees the storage and the file count, and schedules the bytes for deletion an hour later', async () => {
    await make();
    expect((await counters()).file_count).toBe(1);
    await remove();
    expect(await counters()).toEqual({ file_count: 0, storage_bytes: 0 });
    const doomed = await api.db.query<{ grace: number }>(
      `select extract(epoch from delete_after - doomed_objects.created_at)::integer as grace from doomed_objects
       join files using (file_id) where project_id = $1`,
      [project.project_id],
    );
    expect(doomed).toEqual(Array.from({ length: 3 }, () => ({ grace: 3600 })));
  });

  it('lets a later upload of the same slug create a new file with revision 1', async () => {
    const first = await make();
    await make();
    await remove();
    const next = await make();
    expect(next).toMatchObject({ revision: 1, status: 'ready' });
    expect(next.file_id).not.toBe(first.file_id);
  });

  it('keeps the slug of a blocked file blocked for its next upload, but no other slug', async () => {
    await block((await make()).file_id);
    expect((await remove()).status).toBe(204);
    const next = await make();
    expect(next).toMatchObject({ revision: 1, status: 'blocked', blocked_by: 'scanner' });
    expect((await make('other.png')).status).toBe('ready');
  });

  it('removes the watermark presets that use the file, even the project’s default', async () => {
    const drawn = await make();
    const [byDefault, another] = [await drawWith(drawn.file_id), await drawWith(drawn.file_id)];
    const stays = await drawWith((await make('stays.png')).file_id);
    const slug = `/v1/projects/${project.project_slug}`;
    await owner('PATCH', slug, { default_watermark_preset_id: byDefault });
    await remove();
    expect((await owner('GET', slug)).body.default_watermark_preset_id).toBeNull();
    const left = await api.db.query('select watermark_preset_id from watermark_presets');
    expect(left).toEqual([{ watermark_preset_id: stays }]);
    expect((await settings()).at(-1)).toMatchObject({
      actor_kind: 'key',
      before: { default_watermark_preset_id: byDefault },
      after: { default_watermark_preset_id: null },
    });
    const entries = await audited();
    expect(entries.map(({ action }) => action)).toEqual([
      'watermark_preset.delete',
      'watermark_preset.delete',
      'file.delete',
    ]);
    const targets = entries.slice(0, 2).map(({ target }) => target);
    expect(new Set(targets)).toEqual(new Set([byDefault, another]));
  });

  it('records in the audit log who deleted the file', async () => {
    const file = await make();
    const answer = await remove('hero.png', owner);
    const [entry] = await audited();
    expect(entry).toEqual({
      action: 'file.delete',
      actor_kind: 'user',
      actor_id: subject,
      target: file.file_id,
      before: { file_slug: 'hero.png', revision: 1, blocked_by: null },
      after: { watermark_preset_ids: [] },
      request_id: must(answer.headers['x-request-id'] as string | undefined),
    });
  });

  it('stays possible while the project is suspended', async () => {
    await make();
    await owner('PATCH', `/v1/projects/${project.project_slug}`, { status: 'suspended' });
    expect((await remove('hero.png', owner)).status).toBe(204);
  });
});

async function purgeCount(): Promise<number> {
  const rows = await api.db.query('select 1 from purges where project_id = $1', [
    project.project_id,
  ]);
  return rows.length;
}

// Spec: Watermark preset; Endpoints, Watermark presets.
import { beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { watermarkPresetRecord } from '../../../../runtime/core/resources/watermark-preset.ts';
import { updateFileBlocked } from '../../../../runtime/db/files.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import { id, makeFile, makeUpload } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;
let key: Caller;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/watermark-presets`;
  key = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
  await makeFile(api.db, project, { file_slug: 'logo.png' });
});

const corner = { name: 'corner', file_slug: 'logo.png', x_offset: -8, y_offset: -8, opacity: 60 };
const put = (body: unknown = corner, at = path) => key('PUT', at, body);
const setDefault = (preset: string | null) =>
  owner('PATCH', `/v1/projects/${project.project_slug}`, { default_watermark_preset_id: preset });

const audited = () => auditEntries(api.db, project, 'watermark%');

/** The project's generation, and the reasons of its purges. */
async function forgotten() {
  const [row] = await api.db.query<{ generation: number; reasons: string[] }>(
    `select generation, array(select distinct reason from purges where project_id = $1) as reasons
     from projects where project_id = $1`,
    [project.project_id],
  );
  return row;
}

/** The transactions that last wrote the project, its presets, its audit entries and its purges. */
async function transactions(): Promise<unknown[]> {
  const rows = await api.db.query<{ xmin: string }>(
    `select xmin::text from projects where project_id = $1
     union select xmin::text from watermark_presets where project_id = $1
     union (select xmin::text from audit_log where project_id = $1 order by audit_id desc limit 1)
     union (select xmin::text from purges where project_id = $1 order by purge_id desc limit 1)`,
    [project.project_id],
  );
  return rows.map(({ xmin }) => xmin);
}

describe('PUT …/watermark-presets', () => {
  it('returns 201 with the record, and creates a new preset on every call', async () => {
    const first = await put();
    expect(first.status).toBe(201);
    expectRecord(watermarkPresetRecord, first.body);
    expect(first.body).toMatchObject(corner);
    const second = await put({ ...corner, name: 'other' });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('defaults offsets to 0 and opacity to 100, and rounds half up', async () => {
    const plain = await put({ name: 'plain', file_slug: 'LOGO.png' });
    expect(plain.body).toMatchObject({
      file_slug: 'logo.png',
      x_offset: 0,
      y_offset: 0,
      opacity: 100,
    });
    const half = { name: 'half', file_slug: 'logo.png', x_offset: -2.5, y_offset: 2.5 };
    expect((await put({ ...half, opacity: 49.5 })).body).toMatchObject({
      x_offset: -2,
      y_offset: 3,
      opacity: 50,
    });
  });

  it('returns 409 watermark_preset_name_taken within the project, without a purge or an audit entry', async () => {
    await put();
    const before = [await forgotten(), await audited()];
    expect(codeOf(await put())).toBe('409 watermark_preset_name_taken');
    expect([await forgotten(), await audited()]).toEqual(before);
    const other = await createProject(owner);
    await makeFile(api.db, other, { file_slug: 'logo.png' });
    const elsewhere = `/v1/projects/${other.project_slug}/watermark-presets`;
    expect((await owner('PUT', elsewhere, corner)).status).toBe(201);
  });

  it('creates one preset for concurrent requests with one name', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => put()));
    const codes = answers.filter(({ status }) => status !== 201).map(codeOf);
    expect(codes).toEqual(Array.from({ length: 7 }, () => '409 watermark_preset_name_taken'));
  });

  it('returns 409 watermark_file_not_ready for a missing, unpublished, blocked or deleted file', async () => {
    const blocked = await makeFile(api.db, project, { file_slug: 'blocked.png' });
    await api.db.transaction((tx) =>
      updateFileBlocked(tx, { file_id: blocked.file_id, blocked_by: 'staff', reason: 'no' }),
    );
    await makeFile(api.db, project, { file_slug: 'deleted.png' });
    await key('DELETE', `/v1/projects/${project.project_slug}/files/deleted.png`);
    await makeUpload(api.db, project, { file_slug: 'coming.png' });
    await makeFile(api.db, await createProject(owner), { file_slug: 'theirs.png' });
    for (const name of ['never', 'coming', 'blocked', 'deleted', 'theirs']) {
      const answer = await put({ name, file_slug: `${name}.png` });
      expect(codeOf(answer), name).toBe('409 watermark_file_not_ready');
    }
  });

  it.each([
    [{ file_slug: 'logo.png' }, 'name'],
    [{ name: 'a' }, 'file_slug'],
    [{ ...corner, name: '' }, 'name'],
    [{ ...corner, opacity: 101 }, 'opacity'],
    [{ ...corner, opacity: -0.1 }, 'opacity'],
    [{ ...corner, x_offset: '1' }, 'x_offset'],
    [{ ...corner, y_offset: 1e9 }, 'y_offset'],
    [{ ...corner, color: 'red' }, 'color'],
  ])('returns 400 invalid_request for %j', async (body, field) => {
    const answer = await put(body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer).join()).toContain(field);
  });
});

describe('the limit of 1,000 watermark presets', () => {
  it('returns 409 watermark_preset_quota_exceeded, but allows replacing', async () => {
    const { id: first } = (await put()).body;
    await api.db.query(
      `insert into watermark_presets (watermark_preset_id, project_id, name, file_id)
       select $2 || lpad(n::text, 10, '0'), project_id, 'w' || n, file_id
       from watermark_presets, generate_series(1, 999) n where watermark_preset_id = $1`,
      [first, id('wm').slice(0, -10)],
    );
    const more = { ...corner, name: 'one more' };
    expect(codeOf(await put(more))).toBe('409 watermark_preset_quota_exceeded');
    expect(codeOf(await put(more, `${path}/${id('wm')}`))).toBe(
      '409 watermark_preset_quota_exceeded',
    );
    expect((await put(more, `${path}/${first}`)).status).toBe(200);
    expect((await key('GET', path)).body.items).toHaveLength(1000);
  });
});

describe('GET …/watermark-presets', () => {
  it('returns every preset, newest first, without next_cursor', async () => {
    expect((await key('GET', path)).body).toEqual({ items: [] });
    const first = (await put()).body;
    const second = (await put({ ...corner, name: 'other' })).body;
    expect((await key('GET', path)).body).toEqual({ items: [second, first] });
  });
});

describe('GET …/watermark-presets/{id}', () => {
  it('returns a preset of the project, and 404 not_found for any other id', async () => {
    const made = (await put()).body;
    expect((await key('GET', `${path}/${made.id}`)).body).toEqual(made);
    const other = await createProject(owner);
    const theirs = `/v1/projects/${other.project_slug}/watermark-presets/${made.id}`;
    for (const wrong of [
      theirs,
      ...[id('wm'), 'nonsense', '%00'].map((each) => `${path}/${each}`),
    ]) {
      expect(codeOf(await owner('GET', wrong)), wrong).toBe('404 not_found');
    }
  });
});

describe('PUT …/watermark-presets/{id}', () => {
  it('returns 201 for a new id and 200 from then on, with defaults for the fields not sent', async () => {
    const at = `${path}/${id('wm')}`;
    const created = await put(corner, at);
    expect([created.status, created.body.id]).toEqual([201, at.split('/').at(-1)]);
    const replaced = await put({ name: 'renamed', file_slug: 'logo.png' }, at);
    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({ name: 'renamed', x_offset: 0, opacity: 100 });
    expect((await key('GET', path)).body.items).toEqual([replaced.body]);
  });

  it('rejects a taken name and a missing file, as the PUT without an id does', async () => {
    await put();
    const at = `${path}/${id('wm')}`;
    expect(codeOf(await put(corner, at))).toBe('409 watermark_preset_name_taken');
    const missing = { ...corner, name: 'b', file_slug: 'never.png' };
    expect(codeOf(await put(missing, at))).toBe('409 watermark_file_not_ready');
  });

  it('returns 400 for a malformed id, and 404 for one of another project', async () => {
    for (const wrong of ['logo', 'wm_1', 'file_01h455vb4pex5vsknk084sn02q']) {
      const answer = await put(corner, `${path}/${wrong}`);
      expect(codeOf(answer)).toBe('400 invalid_request');
      expect(answer.text).toContain('wm_<26 characters>');
    }
    const theirs = (await put()).body.id;
    const other = await createProject(owner);
    await makeFile(api.db, other, { file_slug: 'logo.png' });
    const at = `/v1/projects/${other.project_slug}/watermark-presets/${theirs}`;
    expect(codeOf(await owner('PUT', at, corner))).toBe('404 not_found');
    expect((await key('GET', `${path}/${theirs}`)).body).toMatchObject(corner);
  });
});

describe('DELETE …/watermark-presets/{id}', () => {
  it('returns 204, and 404 not_found from then on', async () => {
    const at = `${path}/${(await put()).body.id}`;
    const answer = await key('DELETE', at);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(codeOf(await key('DELETE', at))).toBe('404 not_found');
    for (const wrong of ['nonsense', '%00'])
      expect(codeOf(await key('DELETE', `${path}/${wrong}`)), wrong).toBe('404 not_found');
  });

  it('returns 409 default_watermark_in_use while the preset is the project’s default', async () => {
    const preset = (await put()).body.id;
    await setDefault(preset);
    expect(codeOf(await key('DELETE', `${path}/${preset}`))).toBe('409 default_watermark_in_use');
    await setDefault(null);
    expect((await key('DELETE', `${path}/${preset}`)).status).toBe(204);
  });
});

describe('every change of a watermark preset', () => {
  it('purges the cached images of the project in the transaction that makes and audits the change', async () => {
    const at = `${path}/${id('wm')}`;
    const start = (await forgotten())?.generation ?? 0;
    await put(corner, at);
    expect(await forgotten()).toEqual({
      generation: start + 1,
      reasons: ['watermark_preset_changed'],
    });
    expect(await transactions()).toHaveLength(1);
    await put({ ...corner, opacity: 10 }, at);
    expect((await forgotten())?.generation).toBe(start + 2);
    expect(await transactions()).toHaveLength(1);
    await key('DELETE', at);
    expect(await transactions()).toHaveLength(1);
    expect(await forgotten()).toMatchObject({
      generation: start + 3,
      reasons: expect.arrayContaining(['watermark_preset_deleted']),
    });
  });

  it('is audited with the state before and after it', async () => {
    const target = id('wm');
    const at = `${path}/${target}`;
    await owner('PUT', at, corner);
    await owner('PUT', at, { ...corner, opacity: 10 });
    const { headers } = await owner('DELETE', at);
    const entries = await audited();
    expect(entries).toMatchObject([
      { action: 'watermark_preset.create', before: null, after: corner, actor_id: subject },
      { action: 'watermark_preset.replace', before: corner, after: { opacity: 10 } },
      { action: 'watermark_preset.delete', before: { opacity: 10 }, after: null, target },
    ]);
    expect(entries[2]?.['request_id']).toBe(headers['x-request-id']);
  });
});

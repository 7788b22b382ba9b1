// Spec: Library; Endpoints, Libraries; Limits, unindexed-project threshold.
import { beforeEach, describe, expect, it } from 'vitest';
import { beginUpload, createUpload } from '../../../../runtime/actions/create-upload.ts';
import { libraryRecord } from '../../../../runtime/core/resources/library.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { createUploadBody } from '../../../../runtime/core/resources/upload.ts';
import { updateFileBlocked } from '../../../../runtime/db/files.ts';
import { findProject } from '../../../../runtime/db/projects.ts';
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
import { makeFile, makeUpload, must } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;
let key: Caller;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/libraries`;
  key = api.withKey(await createKey(owner, project.project_slug, ['files:read', 'files:write']));
});

const press = { slug: 'press', name: 'Press' };
const create = (body: unknown = press) => key('POST', path, body);
const patch = (body: unknown, lib = 'press') => key('PATCH', `${path}/${lib}`, body);
const remove = (lib = 'press') => key('DELETE', `${path}/${lib}`);
const turnOff = () => api.change({ settings: { mediaLibraryWrites: 'disabled' } });
const makeSmall = () => api.change({ settings: { unindexedThreshold: 1 } });

describe('POST …/libraries', () => {
  it('returns 201 with a normalized slug, name and origins', async () => {
    const { status, body } = await create({
      slug: ' Press.2026 ',
      name: ' Press pictures ',
      allowed_origins: [
        'https://CMS.example.com',
        'http://localhost:3000',
        'https://cms.example.com',
      ],
    });
    expect(status).toBe(201);
    expectRecord(libraryRecord, body);
    expect(body).toMatchObject({
      slug: 'press.2026',
      name: 'Press pictures',
      allowed_origins: ['https://cms.example.com', 'http://localhost:3000'],
      library_id: expect.stringMatching(/^lib_/),
    });
    expect((await key('GET', `${path}/PRESS.2026`)).body).toEqual(body);
  });

  it.each(['default', ' Default ', '', 'a/b', '-a', 'a b', 'ä', '\ud800', 'x'.repeat(65)])(
    'returns 400 invalid_library_slug for %j',
    async (slug) => {
      expect(codeOf(await create({ slug, name: 'x' }))).toBe('400 invalid_library_slug');
    },
  );

  it('returns 409 library_slug_taken in the same project only, until the library is deleted', async () => {
    const first = await create();
    expect(codeOf(await create())).toBe('409 library_slug_taken');
    const other = await createProject(owner);
    expect(
      (await owner('POST', `/v1/projects/${other.project_slug}/libraries`, press)).status,
    ).toBe(201);
    expect((await remove()).status).toBe(204);
    const again = await create();
    expect(again.status).toBe(201);
    expect(again.body.library_id).not.toBe(first.body.library_id);
  });

  it('creates one library for twelve concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create()));
    const codes = answers.map(codeOf).toSorted();
    expect(codes).toEqual(['201', ...Array.from({ length: 11 }, () => '409 library_slug_taken')]);
  });

  const tooMany = Array.from({ length: 201 }, (_, n) => `https://h${n}.example`);
  const wrong: [body: unknown, field: string][] = [
    [{ slug: 'a' }, 'name'],
    [{ slug: 'a', name: ' ' }, 'name'],
    [{ slug: 'a', name: 'x'.repeat(121) }, 'name'],
    [{ slug: 'a', name: 'x', allowed_origins: tooMany }, 'allowed_origins'],
    [{ slug: 'a', name: 'x', library_id: null }, 'library_id'],
    [{ name: 'x' }, 'slug'],
    ...[
      'http://cms.example.com',
      'https://cms.example.com/',
      'https://*.example.com',
      'http://localhost',
      'http://127.0.0.2:80',
      'https://user@cms.example.com',
      'null',
      '*',
    ].map((origin): [unknown, string] => [
      { slug: 'a', name: 'x', allowed_origins: [origin] },
      'allowed_origins[0]',
    ]),
  ];
  it.each(wrong)('returns 400 invalid_request for %j', async (body, field) => {
    const answer = await create(body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([field]);
  });

  it('returns 400 not_supported naming the fields of a later version, and creates nothing', async () => {
    const answer = await create({ ...press, map_enabled: null, delivery_access: 'public' });
    expect(codeOf(answer)).toBe('400 not_supported');
    expect(answer.body.error.details).toEqual({ fields: ['delivery_access', 'map_enabled'] });
    expect((await create({ ...press, map_enabled: false })).body.error.details).toEqual({
      fields: ['map_enabled'],
    });
    expect((await key('GET', path)).body.items).toEqual([]);
  });

  it('accepts 200 origins', async () => {
    const allowed_origins = tooMany.slice(1);
    expect((await create({ ...press, allowed_origins })).body.allowed_origins).toHaveLength(200);
  });
});

describe('GET …/libraries', () => {
  it('lists live named libraries, newest first, page by page', async () => {
    for (const slug of ['a', 'b', 'c', 'gone']) await create({ slug, name: slug });
    await remove('gone');
    const first = await key('GET', `${path}?limit=2`);
    const rest = await key('GET', `${path}?limit=2&cursor=${first.body.next_cursor}`);
    const slugs = [...first.body.items, ...rest.body.items].map(({ slug }) => slug);
    expect(slugs).toEqual(['c', 'b', 'a']);
    expect(rest.body.next_cursor).toBeNull();
  });

  it('returns the default library, though nobody created it, and 404 for unknown ones', async () => {
    const { body } = await key('GET', `${path}/default`);
    expectRecord(libraryRecord, body);
    expect(body).toMatchObject({ slug: 'default', library_id: null, allowed_origins: [] });
    for (const lib of ['press', 'no%20slug', '%2e%2e', 'x'.repeat(300)]) {
      expect(codeOf(await key('GET', `${path}/${lib}`))).toBe('404 library_not_found');
    }
  });
});

describe('PATCH …/libraries/{lib}', () => {
  it('changes only the fields sent, and audits only real changes', async () => {
    const { body: made } = await create({ ...press, allowed_origins: ['https://a.example'] });
    const named = await patch({ name: 'Newsroom' });
    expect(named.body).toMatchObject({ name: 'Newsroom', allowed_origins: ['https://a.example'] });
    const emptied = await patch({ allowed_origins: [] }, ' PRESS'.trim());
    expect(emptied.body).toMatchObject({ name: 'Newsroom', allowed_origins: [] });
    expect((await patch({ name: ' Newsroom ', allowed_origins: [] })).body).toEqual(emptied.body);
    expect((await patch({})).body).toEqual(emptied.body);
    expect(emptied.body.library_id).toBe(made.library_id);
    expect(await auditEntries(api.db, project, 'library.%')).toHaveLength(3);
  });

  it('returns 400 not_supported naming the fields of a later version, and changes nothing', async () => {
    await create();
    const { body } = await patch({ delivery_access: 'protected', map_enabled: true, name: 'no' });
    expect(body.error).toMatchObject({
      code: 'not_supported',
      details: { fields: ['delivery_access', 'map_enabled'] },
    });
    expect((await key('GET', `${path}/press`)).body.name).toBe('Press');
  });

  it('changes only the origins of the default library', async () => {
    const allowed_origins = ['https://cms.example.com'];
    const { body } = await patch({ allowed_origins }, 'default');
    expect(body).toMatchObject({ slug: 'default', library_id: null, allowed_origins });
    expect((await key('GET', `${path}/Default`)).body).toEqual(body);
    for (const wanted of [{ name: 'x' }, { map_enabled: true }, { allowed_origins, name: 'x' }]) {
      expect(codeOf(await patch(wanted, 'default'))).toBe('400 default_library_immutable');
    }
    const entries = await auditEntries(api.db, project, 'library.update');
    expect(entries).toMatchObject([
      { target: 'default', before: { allowed_origins: [] }, after: { allowed_origins } },
    ]);
  });

  it('returns 404 library_not_found for an unknown, deleted or foreign library, as DELETE does', async () => {
    await create();
    await remove();
    const theirs = await createProject(owner);
    await owner('POST', `/v1/projects/${theirs.project_slug}/libraries`, {
      slug: 'theirs',
      name: 'x',
    });
    for (const lib of ['press', 'theirs', 'never']) {
      expect(codeOf(await patch({ name: 'x' }, lib))).toBe('404 library_not_found');
      expect(codeOf(await remove(lib))).toBe('404 library_not_found');
    }
  });
});

describe('DELETE …/libraries/{lib}', () => {
  it('returns 400 default_library_immutable for the default library', async () => {
    expect(codeOf(await remove('default'))).toBe('400 default_library_immutable');
  });

  it('returns 409 library_not_empty while it holds files or unfinished uploads', async () => {
    const { library_id } = (await create()).body;
    const upload = await makeUpload(api.db, project, { library_id });
    expect(codeOf(await remove())).toBe('409 library_not_empty');
    await key('POST', `/v1/projects/${project.project_slug}/uploads/${upload.upload_id}/abort`);
    const file = await makeFile(api.db, project, { file_slug: 'a.png', library_id });
    expect(codeOf(await remove())).toBe('409 library_not_empty');
    const { file_id } = file;
    await api.db.transaction((tx) =>
      updateFileBlocked(tx, { file_id, blocked_by: 'staff', reason: 'x' }),
    );
    const answer = await remove();
    expect(codeOf(answer)).toBe('409 library_not_empty');
    expect(answer.body.error.message).toContain('holds 1 files');
    await key('DELETE', `/v1/projects/${project.project_slug}/files/a.png`);
    expect((await remove()).status).toBe(204);
  });

  it('lets either the deletion or concurrent uploads into the library succeed, never both', async () => {
    const uploads = `/v1/projects/${project.project_slug}/uploads`;
    const begin = () =>
      key('POST', uploads, { content_type: 'image/png', size_bytes: 10, library: 'press' });
    for (let round = 0; round < 12; round++) {
      await create();
      const calls = [begin, remove, begin, begin, remove].map((call) => call());
      const answers = await Promise.all(calls);
      const begun = answers.filter(({ status }) => status === 201);
      const deleted = answers.filter(({ status }) => status === 204);
      expect(begun.length > 0 && deleted.length > 0).toBe(false);
      const refused = answers.filter(({ status }) => status >= 400).map(codeOf);
      for (const code of refused) {
        expect(code).toMatch(/^(404 library_not_found|409 library_not_empty)$/);
      }
      for (const { body } of begun) await key('POST', `${uploads}/${body.upload_id}/abort`);
      if (deleted.length === 0) expect((await remove()).status).toBe(204);
    }
  });

  it('makes an upload fail with library_not_found if the library is recreated while it begins', async () => {
    const { library_id } = (await create()).body;
    const deps = api.deps();
    const row = must(await findProject(api.db, project.project_id));
    const wanted = { content_type: 'image/png', size_bytes: 10, library: 'press', mode: 'direct' };
    const asked = { project: row, input: createUploadBody.parse(wanted) };
    const begun = await beginUpload(deps, asked);
    expect(begun.library_id).toBe(library_id);
    expect((await remove()).status).toBe(204);
    expect((await create()).status).toBe(201);
    const refused = createUpload(deps, asked, begun);
    await expect(refused).rejects.toMatchObject({ code: 'library_not_found' });
  });

  it('lets either the deletion or concurrent moves into the library succeed, never both', async () => {
    await makeFile(api.db, project, { file_slug: 'a.png' });
    const files = `/v1/projects/${project.project_slug}/files`;
    const moveIn = () =>
      key('POST', `${files}/move`, { file_slugs: ['a.png'], folder: '', library: 'press' });
    const patchIn = () => key('PATCH', `${files}/a.png`, { library: 'press' });
    for (let round = 0; round < 12; round++) {
      await create();
      const answers = await Promise.all([moveIn(), remove(), patchIn(), remove()]);
      const isDeleted = answers.some(({ status }) => status === 204);
      expect((await key('GET', `${files}/a.png`)).body.library).toBe(
        isDeleted ? 'default' : 'press',
      );
      await key('PATCH', `${files}/a.png`, { library: 'default' });
      if (!isDeleted) expect((await remove()).status).toBe(204);
    }
  });
});

describe('library writes', () => {
  it('return 409 media_library_disabled while they are disabled; reads still work', async () => {
    await create();
    turnOff();
    const file_slugs = ['a'];
    const move = `/v1/projects/${project.project_slug}/files/move`;
    const refused = [
      await create({ slug: 'other', name: 'x' }),
      await patch({ name: 'x' }),
      await patch({ allowed_origins: [] }, 'default'),
      await remove(),
      await key('POST', move, { file_slugs, folder: '' }),
    ];
    expect(refused.map(codeOf)).toEqual(refused.map(() => '409 media_library_disabled'));
    expect((await key('GET', `${path}/press`)).status).toBe(200);
    expect((await key('GET', path)).body.items).toHaveLength(1);
  });

  it('return 422 filter_unavailable in a large project without library indexes, except for renaming', async () => {
    await create();
    for (const file_slug of ['a.png', 'b.png']) await makeFile(api.db, project, { file_slug });
    makeSmall();
    const files = `/v1/projects/${project.project_slug}/files`;
    const refused = [
      await create({ slug: 'other', name: 'x' }),
      await remove(),
      await key('PATCH', `${files}/a.png`, { folder: 'x' }),
      await key('PATCH', `${files}/a.png`, { library: 'press' }),
      await key('POST', `${files}/move`, { file_slugs: ['a.png'], folder: 'x' }),
    ];
    expect(refused.map(codeOf)).toEqual(refused.map(() => '422 filter_unavailable'));
    for (const { body } of refused) expect(body.error.details).toEqual({ max_files: 1 });
    expect((await patch({ name: 'Newsroom' })).status).toBe(200);
    expect((await key('PATCH', `${files}/a.png`, { title: 'A' })).status).toBe(200);
    api.change({ settings: { unindexedThreshold: 0 } });
    expect((await remove()).status).toBe(204);
  });
});

describe('the audit log of libraries', () => {
  it('records who made each change, with the state before and after it', async () => {
    const { headers, body } = await owner('POST', path, press);
    await patch({ name: 'Newsroom' });
    await remove();
    const [made, renamed, deleted] = await auditEntries(api.db, project, 'library.%');
    const first = { slug: 'press', name: 'Press', allowed_origins: [] };
    expect(made).toEqual({
      action: 'library.create',
      actor_kind: 'user',
      actor_id: subject,
      target: body.library_id,
      before: null,
      after: first,
      request_id: headers['x-request-id'],
    });
    const second = { ...first, name: 'Newsroom' };
    expect(renamed).toMatchObject({ actor_kind: 'key', before: first, after: second });
    expect(deleted).toMatchObject({ action: 'library.delete', before: second, after: null });
  });
});

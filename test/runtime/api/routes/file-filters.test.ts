// Spec: Files (library, folder, search, has_location, bbox, sort, uploader, move; filter_unavailable).
import { beforeEach, describe, expect, it } from 'vitest';
import { movedFilesRecord } from '../../../../runtime/core/resources/file.ts';
import { buildLibraryIndex, LIBRARY_INDEXES } from '../../../../runtime/db/library-indexes.ts';
import {
  type Answer,
  codeOf,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import { type LibraryProject, libraryProject } from '../../../support/library-sessions.ts';
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
let shop: LibraryProject;
let library_id: string;
let files: string;

beforeEach(async () => {
  shop = await libraryProject(api, owner);
  files = `${shop.path}/files`;
  library_id = (await shop.key('GET', `${shop.path}/libraries/press`)).body.library_id;
});

const put = (file_slug: string, place: object = {}) =>
  makeFile(api.db, shop.project, { file_slug, ...place });
const list = (query: string) => shop.key('GET', `${files}?${query}`);
const slugsOf = ({ body }: Answer) =>
  body.items.map((item: { file_slug: string }) => item.file_slug);
const move = (body: unknown) => shop.key('POST', `${files}/move`, body);
const patch = (slug: string, body: unknown) => shop.key('PATCH', `${files}/${slug}`, body);
const makeSmall = () => api.change({ settings: { unindexedThreshold: 1 } });

describe('the library filters of files', () => {
  it('find files in a library, in a folder, and in all folders below', async () => {
    await put('root', { library_id });
    await put('in', { library_id, folder: 'a' });
    await put('deep', { library_id, folder: 'a/b' });
    await put('beside', { library_id, folder: 'ab' });
    await put('elsewhere', { folder: 'a' });
    const rows: [query: string, slugs: string[]][] = [
      ['library=press', ['beside', 'deep', 'in', 'root']],
      ['library=PRESS&folder=', ['root']],
      ['library=press&folder=%2Fa%2F', ['in']],
      ['library=press&folder=a&recursive=true', ['deep', 'in']],
      ['library=press&folder=&recursive=true', ['beside', 'deep', 'in', 'root']],
      ['library=press&recursive=true', ['beside', 'deep', 'in', 'root']],
      ['library=default', ['elsewhere']],
      ['library=default&folder=a&q=else', ['elsewhere']],
      ['library=press&folder=A', []],
    ];
    for (const [query, slugs] of rows) expect(slugsOf(await list(query)), query).toEqual(slugs);
    const { body } = await list('library=press&folder=a&status=ready');
    expect(body).not.toHaveProperty('filters');
    expect(body.items[0]).toMatchObject({ library: 'press', folder: 'a' });
  });

  it('return a cursor that is valid only with its own sort and filters', async () => {
    for (const slug of ['b', 'a', 'c']) await put(slug, { library_id });
    const { next_cursor } = (await list('library=press&sort=name&limit=1')).body;
    const on = (query: string) => list(`${query}&limit=1&cursor=${next_cursor}`);
    expect(slugsOf(await on('library=press&sort=name'))).toEqual(['b']);
    const others = ['library=press', 'library=press&sort=taken', 'library=default&sort=name'];
    for (const other of [...others, 'library=press&sort=name&folder=', 'status=ready']) {
      expect(codeOf(await on(other)), other).toBe('400 invalid_cursor');
    }
  });

  it('do not reveal a location or time unless include=location is given', async () => {
    await put('a', { library_id });
    expect((await list('library=press&sort=taken')).body.items[0]).not.toHaveProperty('taken_at');
    const { body } = await list('library=press&sort=taken&include=location');
    expect(body.items[0]).toMatchObject({ taken_at: null, location: null });
  });

  it('select by uploader with or without a library, and confirm it in the response', async () => {
    await put('a', { library_id });
    const { body } = await list('uploader=me');
    expect(body).toEqual({ items: [], next_cursor: null, filters: { uploader: true } });
    expect((await list('library=press&uploader=me')).body.filters).toEqual({ uploader: true });
    for (const uploader of ['', 'x'.repeat(129), 'a%00b', 'a%E2%80%AEb']) {
      expect(codeOf(await list(`uploader=${uploader}`)), uploader).toBe('400 invalid_subject');
    }
    expect(codeOf(await list('uploader=me&folder=a'))).toBe('400 folder_requires_library');
    expect(codeOf(await list('uploader=me&sort=name'))).toBe('400 filter_requires_library');
  });
});

describe('a project above the unindexed threshold', () => {
  const INDEXED = [
    'library=press',
    'library=default&folder=a',
    'library=press&sort=name',
    'uploader=me',
  ];
  const NEVER = [
    'library=press&search=ab',
    'library=press&status=deleted',
    'uploader=me&status=deleted',
  ];

  it('returns 422 filter_unavailable for library filters, and lists files as usual without them', async () => {
    for (const slug of ['a', 'b']) await put(slug);
    makeSmall();
    for (const query of [...INDEXED, ...NEVER]) {
      const answer = await list(query);
      expect(codeOf(answer), query).toBe('422 filter_unavailable');
      expect(answer.body.error.details).toEqual({ max_files: 1 });
    }
    for (const query of ['q=a', 'status=deleted', '']) expect((await list(query)).status).toBe(200);
    api.change({ settings: { unindexedThreshold: 0 } });
    for (const query of [...INDEXED, ...NEVER]) expect((await list(query)).status).toBe(200);
  });

  it('counts deleted files towards the threshold', async () => {
    for (const slug of ['a', 'b']) await put(slug);
    await shop.key('DELETE', `${files}/a`);
    makeSmall();
    expect(codeOf(await list('library=press'))).toBe('422 filter_unavailable');
  });

  it('allows filters and moves once the indexes are built, except for search and deleted files', async () => {
    for (const slug of ['a', 'b']) await put(slug);
    for (const name of Object.keys(LIBRARY_INDEXES)) await buildLibraryIndex(api.db, name);
    makeSmall();
    for (const query of INDEXED) expect((await list(query)).status, query).toBe(200);
    for (const query of NEVER) expect(codeOf(await list(query))).toBe('422 filter_unavailable');
    expect((await patch('a', { folder: 'x' })).status).toBe(200);
    expect((await move({ file_slugs: ['a'], folder: 'y' })).status).toBe(200);
    const token = await shop.open();
    expect((await token('GET', '/v1/library/files')).status).toBe(200);
    const searched = await token('GET', '/v1/library/files?search=ab');
    expect(codeOf(searched)).toBe('422 filter_unavailable');
    for (const name of Object.keys(LIBRARY_INDEXES)) await api.db.query(`drop index ${name}`);
  });
});

describe('PATCH …/files/{fileSlug} with a library', () => {
  it('moves the file to the root of that library unless a folder is given, and audits each change', async () => {
    await put('a', { folder: 'x' });
    expect((await patch('a', { library: 'press' })).body).toMatchObject({
      library: 'press',
      folder: '',
    });
    expect((await patch('a', { library: 'PRESS', folder: 'y' })).body.folder).toBe('y');
    expect((await patch('a', { library: 'press' })).body.folder).toBe('y');
    expect((await patch('a', { library: 'default', folder: 'z' })).body.library).toBe('default');
    const entries = await auditEntries(api.db, shop.project, 'file.update');
    expect(entries.map(({ before, after }) => [before, after])).toEqual([
      [
        { file_slug: 'a', library: 'default', folder: 'x' },
        { file_slug: 'a', library: 'press', folder: '' },
      ],
      [
        { file_slug: 'a', folder: '' },
        { file_slug: 'a', folder: 'y' },
      ],
      [
        { file_slug: 'a', library: 'press', folder: 'y' },
        { file_slug: 'a', library: 'default', folder: 'z' },
      ],
    ]);
  });
});

describe('POST …/files/move', () => {
  it('returns where each file ended up, once and in order, and which slugs have no live file', async () => {
    for (const slug of ['a', 'b', 'gone']) await put(slug, { library_id });
    await put('c', { folder: 'old' });
    await shop.key('DELETE', `${files}/gone`);
    const file_slugs = ['b', 'A', 'gone', 'never', 'a', 'c'];
    const { status, body } = await move({ file_slugs, folder: ' x / y ' });
    expect(status).toBe(200);
    expectRecord(movedFilesRecord, body);
    expect(body).toEqual({
      moved: [
        { file_slug: 'b', library: 'press', folder: 'x/y' },
        { file_slug: 'a', library: 'press', folder: 'x/y' },
        { file_slug: 'c', library: 'default', folder: 'x/y' },
      ],
      not_found: ['gone', 'never'],
    });
    const into = await move({ file_slugs: ['a', 'c'], folder: '', library: 'default' });
    expect(into.body.moved).toEqual([
      { file_slug: 'a', library: 'default', folder: '' },
      { file_slug: 'c', library: 'default', folder: '' },
    ]);
  });

  it('moves a file to another library even if its folder is the same, and not if no library is given', async () => {
    await put('a', { library_id, folder: 'x' });
    const { file_id } = await put('b', { folder: 'x' });
    expect((await move({ file_slugs: ['a', 'b'], folder: 'x' })).body.moved).toEqual([
      { file_slug: 'a', library: 'press', folder: 'x' },
      { file_slug: 'b', library: 'default', folder: 'x' },
    ]);
    await move({ file_slugs: ['a', 'b'], folder: 'x', library: 'press' });
    expect(slugsOf(await list('library=press&folder=x')).sort()).toEqual(['a', 'b']);
    expect(await auditEntries(api.db, shop.project, 'file.update')).toMatchObject([
      { target: file_id, before: { library: 'default' }, after: { library: 'press' } },
    ]);
  });

  it('writes one audit entry per moved file, without a purge or a webhook', async () => {
    await put('a');
    await put('b', { folder: 'x' });
    const { file_id } = await put('c');
    const count = async (table: string) =>
      (await api.db.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n;
    const before = [await count('purges'), await count('webhook_deliveries')];
    const { headers } = await move({ file_slugs: ['b', 'c'], folder: 'x', library: 'default' });
    expect([await count('purges'), await count('webhook_deliveries')]).toEqual(before);
    expect(await auditEntries(api.db, shop.project, 'file.update')).toMatchObject([
      {
        target: file_id,
        before: { file_slug: 'c', library: 'default', folder: '' },
        after: { file_slug: 'c', library: 'default', folder: 'x' },
        request_id: headers['x-request-id'],
      },
    ]);
  });

  it('accepts a thousand slugs, and moves nothing if the folder or library is invalid', async () => {
    await put('a');
    const file_slugs = ['a', ...Array.from({ length: 999 }, (_, n) => `n${n}`)];
    const { body } = await move({ file_slugs, folder: 'x' });
    expect(body.moved).toHaveLength(1);
    expect(body.not_found).toHaveLength(999);
    expect(codeOf(await move({ file_slugs: ['a'], folder: '..' }))).toBe('400 invalid_folder');
    const never = { file_slugs: ['a'], folder: '', library: 'never' };
    expect(codeOf(await move(never))).toBe('404 library_not_found');
    expect((await shop.key('GET', `${files}/a`)).body.folder).toBe('x');
  });

  it('moves all files together, so that concurrent moves leave them in one folder', async () => {
    const slugs = Array.from({ length: 12 }, (_, n) => `f${n}`);
    for (const slug of slugs) await put(slug);
    const moves = Array.from({ length: 8 }, (_, n) =>
      move({ file_slugs: n % 2 === 0 ? slugs : slugs.toReversed(), folder: `to-${n}` }),
    );
    const answers = await Promise.all(moves);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { body } = await list('library=default');
    expect(new Set(body.items.map(({ folder }: { folder: string }) => folder)).size).toBe(1);
  });

  it.each([
    [{ folder: '' }, 'file_slugs'],
    [{ file_slugs: [], folder: '' }, 'file_slugs'],
    [{ file_slugs: Array(1001).fill('a'), folder: '' }, 'file_slugs'],
    [{ file_slugs: ['no slug'], folder: '' }, 'file_slugs[0]'],
    [{ file_slugs: ['a'] }, 'folder'],
    [{ file_slugs: ['a'], folder: null }, 'folder'],
    [{ file_slugs: ['a'], folder: '', color: 'red' }, 'color'],
  ])('returns 400 invalid_request for %j', async (body, field) => {
    const answer = await move(body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([field]);
  });
});

describe('an upload into a library', () => {
  const begin = (place: object) =>
    shop.key('POST', `${shop.path}/uploads`, {
      content_type: 'image/png',
      size_bytes: 9,
      ...place,
    });

  it('is created in its normalized library and folder; a 404 library_not_found leaves nothing behind', async () => {
    const { body } = await begin({ library: ' Press ', folder: 'a//b' });
    expect(body).toMatchObject({ library: 'press', folder: 'a/b' });
    const found = await shop.key('GET', `${shop.path}/uploads/${body.upload_id}`);
    expect(found.body).toMatchObject({ library: 'press', folder: 'a/b' });
    for (const library of ['never', '', 'no/slug']) {
      expect(codeOf(await begin({ library }))).toBe('404 library_not_found');
    }
    await shop.key('POST', `${shop.path}/uploads/${body.upload_id}/abort`);
    await shop.key('DELETE', `${shop.path}/libraries/press`);
    expect(codeOf(await begin({ library: 'press' }))).toBe('404 library_not_found');
    const query = 'select reserved_bytes from projects where project_id = $1';
    expect(await api.db.query(query, [shop.project.project_id])).toEqual([{ reserved_bytes: 0 }]);
    expect((await shop.key('GET', `${shop.path}/uploads`)).body.items).toHaveLength(1);
  });
});

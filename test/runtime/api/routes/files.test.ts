// Spec: Files (GET); File.
import { beforeAll, describe, expect, it } from 'vitest';
import { fileRecord } from '../../../../runtime/core/resources/file.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { deleteFile } from '../../../../runtime/db/file-revisions.ts';
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
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
let project: ProjectRecord;
let path: string;
let call: Caller;

beforeAll(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/files`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:read']));
  for (const file_slug of ['a-ready.png', 'a-blocked.png', 'b-ready.png', 'a-deleted.png']) {
    const { file_id } = await makeFile(api.db, project, { file_slug });
    if (file_slug === 'a-blocked.png') {
      await api.db.transaction((tx) =>
        updateFileBlocked(tx, { file_id, blocked_by: 'staff', reason: 'x' }),
      );
    }
    if (file_slug === 'a-deleted.png') {
      const { project_id } = project;
      await api.db.transaction((tx) => deleteFile(tx, { project_id, file_slug }));
    }
  }
});

const slugs = async (query: string) => {
  const answer = await call('GET', `${path}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items.map((file: { file_slug: string }) => file.file_slug);
};

describe('GET …/files', () => {
  it('returns every file that is not deleted, newest first', async () => {
    const { body } = await call('GET', path);
    for (const item of body.items) expectRecord(fileRecord, item);
    expect(body.next_cursor).toBeNull();
    expect(await slugs('')).toEqual(['b-ready.png', 'a-blocked.png', 'a-ready.png']);
    expect((await owner('GET', path)).body).toEqual(body);
  });

  it('filters by status', async () => {
    expect(await slugs('?status=ready')).toEqual(['b-ready.png', 'a-ready.png']);
    expect(await slugs('?status=blocked')).toEqual(['a-blocked.png']);
    expect(await slugs('?status=deleted')).toEqual(['a-deleted.png']);
    expect(issuesOf(await call('GET', `${path}?status=gone`))).toEqual(['status']);
  });

  it('filters by a prefix of the slug, taken literally', async () => {
    expect(await slugs('?q=a-')).toEqual(['a-blocked.png', 'a-ready.png']);
    expect(await slugs('?q=A-')).toEqual(['a-blocked.png', 'a-ready.png']);
    expect(await slugs('?q=a-&status=ready')).toEqual(['a-ready.png']);
    for (const q of ['%25', '_', 'ready', 'a-ready.png.', '%5C'])
      expect(await slugs(`?q=${q}`)).toEqual([]);
    expect(await slugs('?q=')).toHaveLength(3);
  });

  it('rejects U+0000 and repeated, unknown or invalid parameters', async () => {
    const rows: [string, string][] = [
      ['?q=a%00b', 'q'],
      ['?q=a&q=b', 'q'],
      ['?status=ready&status=ready', 'status'],
      ['?include=exif', 'include'],
      ['?include=', 'include'],
      ['?recursive=1', 'recursive'],
      ['?sort=size', 'sort'],
      ['?color=red', 'color'],
    ];
    for (const [query, field] of rows) {
      const answer = await call('GET', path + query);
      expect(codeOf(answer), query).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual([field]);
    }
  });

  it.each([
    ['?library=press', '404 library_not_found'],
    ['?library=', '404 library_not_found'],
    ['?library=no/slug&search=a', '404 library_not_found'],
    ['?folder=home', '400 folder_requires_library'],
    ['?folder=', '400 folder_requires_library'],
    ['?recursive=true', '400 folder_requires_library'],
    ['?search=ab', '400 filter_requires_library'],
    ['?has_location=false', '400 filter_requires_library'],
    ['?bbox=1,2,3,4', '400 filter_requires_library'],
    ['?sort=name', '400 filter_requires_library'],
    ['?sort=taken', '400 filter_requires_library'],
    ['?library=default&folder=..', '400 invalid_folder'],
    ['?library=default&search=a', '400 invalid_search'],
    ['?library=default&bbox=1,2,3', '400 invalid_bbox'],
    ['?library=default&bbox=1,20,3,10', '400 invalid_bbox'],
  ])('answers %s with %s', async (query, code) => {
    expect(codeOf(await call('GET', path + query))).toBe(code);
  });

  it('returns all files for the default library, whatever the case of its name', async () => {
    expect(await slugs('?library=default')).toEqual(await slugs(''));
    expect(await slugs('?library=%20Default&q=a-&sort=uploaded')).toEqual(await slugs('?q=a-'));
  });

  it('returns the location only on request', async () => {
    expect((await call('GET', path)).text).not.toContain('location');
    const { body } = await call('GET', `${path}?include=location&q=a-`);
    for (const item of body.items) {
      expectRecord(fileRecord, item);
      expect(item).toMatchObject({ location: null, taken_at: null });
    }
  });
});

describe('GET …/files/{fileSlug}', () => {
  it('returns the file, whatever the case of its slug', async () => {
    const { status, body } = await call('GET', `${path}/A-Ready.PNG`);
    expect(status).toBe(200);
    expectRecord(fileRecord, body);
    expect(body).toMatchObject({
      file_slug: 'a-ready.png',
      status: 'ready',
      revision: 1,
      width: 640,
      height: 480,
      url: `https://${project.project_slug}.images.test/originals/f/a-ready.png`,
      title: null,
      alt_text: null,
      folder: '',
      library: 'default',
      original_filename: null,
      content_type: 'image/png',
      dominant_color: '#336699',
    });
    expect(body).not.toHaveProperty('location');
  });

  it('uses the configured delivery scheme and port in the URL', async () => {
    api.change({ settings: { deliveryScheme: 'http', deliveryPublicPort: 8081 } });
    const { body } = await call('GET', `${path}/a-ready.png`);
    expect(body.url).toBe(
      `http://${project.project_slug}.images.test:8081/originals/f/a-ready.png`,
    );
  });

  it('returns location and time with include=location', async () => {
    await api.db.query(
      `update files set latitude = 48.25, longitude = -11.5, taken_at = '2026-05-01T10:00:00Z'
       where file_slug = 'b-ready.png'`,
    );
    const { body } = await call('GET', `${path}/b-ready.png?include=location`);
    expectRecord(fileRecord, body);
    expect(body).toMatchObject({
      location: { latitude: 48.25, longitude: -11.5 },
      taken_at: '2026-05-01T10:00:00.000Z',
    });
    expect(issuesOf(await call('GET', `${path}/b-ready.png?include=all`))).toEqual(['include']);
  });

  it('returns a blocked file too', async () => {
    expect((await call('GET', `${path}/a-blocked.png`)).body.status).toBe('blocked');
  });

  it('returns the same 404 file_not_found for a deleted, a foreign and a nonexistent file', async () => {
    const other = await createProject(owner);
    await makeFile(api.db, other, { file_slug: 'theirs.png' });
    const answers = [];
    for (const slug of ['a-deleted.png', 'theirs.png', 'never', '-', 'x'.repeat(200), '%C3%A9']) {
      answers.push(await call('GET', `${path}/${slug}`));
    }
    expect(answers.map(codeOf)).toEqual(answers.map(() => '404 file_not_found'));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });
});

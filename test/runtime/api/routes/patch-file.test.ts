// Spec: Files (PATCH); File (title, alt_text, folder); Limits (title / alt_text, request bodies).
import { beforeEach, describe, expect, it } from 'vitest';
import { fileRecord } from '../../../../runtime/core/resources/file.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
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
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;
let key: Caller;
let fileId: string;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/files/hero.png`;
  key = api.withKey(await createKey(owner, project.project_slug, ['files:read', 'files:write']));
  fileId = (await makeFile(api.db, project, { file_slug: 'hero.png' })).file_id;
});

const patch = (body: unknown, at = path) => key('PATCH', at, body);

const audited = () => auditEntries(api.db, project, 'file.update');

describe('PATCH …/files/{fileSlug}', () => {
  it('changes only the fields sent, and returns the file without its location', async () => {
    const first = await patch({ title: 'Hero', alt_text: 'A hero' });
    expect(first.status).toBe(200);
    expectRecord(fileRecord, first.body);
    expect(first.body).toMatchObject({
      title: 'Hero',
      alt_text: 'A hero',
      folder: '',
      revision: 1,
    });
    expect(first.body).not.toHaveProperty('location');
    const second = await owner('PATCH', path.replace('hero', 'HERO'), { folder: 'home' });
    expect(second.body).toMatchObject({ title: 'Hero', folder: 'home', library: 'default' });
    expect((await key('GET', path)).body).toEqual(second.body);
  });

  it.each([
    [' \u202eA\tb\u2066 \n', 'Ab'],
    ['Ä ö', 'Ä ö'],
    ['😀'.repeat(201), '😀'.repeat(200)],
    [`${'x'.repeat(199)}👩‍👧`, 'x'.repeat(199)],
    ['%_\\\'"<b>', '%_\\\'"<b>'],
    ['\ud83d', '\ufffd'],
  ])('stores the title %j as %j', async (sent, kept) => {
    expect((await patch({ title: sent })).body.title).toBe(kept);
  });

  it('cuts the alt text to 1000 characters', async () => {
    const { body } = await patch({ alt_text: `${'é'.repeat(1000)}x` });
    expect(body.alt_text).toBe('é'.repeat(1000));
  });

  it.each(['', ' ', '\u0000\u200f\n', null])(
    'clears the title and alt text with %j',
    async (nothing) => {
      await patch({ title: 'Hero', alt_text: 'A hero' });
      const { body } = await patch({ title: nothing, alt_text: nothing });
      expect(body).toMatchObject({ title: null, alt_text: null });
    },
  );

  it('normalizes the folder; an empty one is the root', async () => {
    const folderOf = async (folder: string) => (await patch({ folder })).body.folder;
    expect(await folderOf('/ Home // Garden/')).toBe('Home/Garden');
    expect(await folderOf('cafe\u0301')).toBe('caf\u00e9');
    expect(await folderOf('')).toBe('');
  });

  it('returns 400 invalid_folder for an invalid folder and 404 library_not_found for an unknown library', async () => {
    for (const folder of [
      '..',
      'a/./b',
      'a\u0000b',
      'a\ud800b',
      'a/'.repeat(11),
      'x'.repeat(256),
    ]) {
      expect(codeOf(await patch({ folder, title: 'no' })), folder).toBe('400 invalid_folder');
    }
    for (const library of ['press', '', 'no/slug']) {
      expect(codeOf(await patch({ library, title: 'no' }))).toBe('404 library_not_found');
    }
    expect((await key('GET', path)).body.title).toBeNull();
  });

  it('keeps the folder of a file that is moved into its own library', async () => {
    await patch({ folder: 'home' });
    expect((await patch({ library: ' Default ' })).body).toMatchObject({ folder: 'home' });
    expect((await patch({ library: 'default', folder: 'x' })).body.folder).toBe('x');
  });

  it('returns 409 media_library_disabled for a folder or library while writes are off, not for texts', async () => {
    api.change({ settings: { mediaLibraryWrites: 'disabled' } });
    for (const place of [{ folder: 'home' }, { library: 'default' }, { library: 'press' }]) {
      expect(codeOf(await patch({ ...place, title: 'no' }))).toBe('409 media_library_disabled');
    }
    expect((await patch({ title: 'Hero' })).body.title).toBe('Hero');
  });

  it.each([
    [{ title: 7 }, 'title'],
    [{ alt_text: ['x'] }, 'alt_text'],
    [{ folder: null }, 'folder'],
    [{ library: null }, 'library'],
    [{ file_slug: 'other.png' }, 'file_slug'],
    [{ status: 'deleted' }, 'status'],
    [[], ''],
  ])('returns 400 invalid_request for %j', async (body, field) => {
    const answer = await patch(body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([field]);
  });

  it('changes a blocked file, and returns 404 file_not_found for a deleted, foreign or nonexistent one', async () => {
    await api.db.transaction((tx) =>
      updateFileBlocked(tx, { file_id: fileId, blocked_by: 'staff', reason: 'x' }),
    );
    expect((await patch({ title: 'Hero' })).body).toMatchObject({
      status: 'blocked',
      title: 'Hero',
    });
    await makeFile(api.db, await createProject(owner), { file_slug: 'theirs.png' });
    await key('DELETE', path);
    const answers = [];
    for (const slug of ['hero.png', 'theirs.png', 'never', '-', '%00', 'x'.repeat(200)]) {
      answers.push(await patch({ title: 'no' }, path.replace('hero.png', slug)));
    }
    expect(answers.map(codeOf)).toEqual(answers.map(() => '404 file_not_found'));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('accepts a body of up to 256 KiB', async () => {
    const body = { title: 'x'.repeat(262_144 - '{"title":""}'.length) };
    expect((await patch(body)).body.title).toBe('x'.repeat(200));
    expect(codeOf(await patch({ title: `${body.title}x` }))).toBe('413 payload_too_large');
  });
});

describe('the audit log of files', () => {
  it('records the changed fields before and after each change', async () => {
    const { headers } = await owner('PATCH', path, { title: 'Hero', alt_text: '', folder: 'a' });
    expect(await audited()).toEqual([
      {
        action: 'file.update',
        actor_kind: 'user',
        actor_id: subject,
        target: fileId,
        before: { file_slug: 'hero.png', title: null, folder: '' },
        after: { file_slug: 'hero.png', title: 'Hero', folder: 'a' },
        request_id: headers['x-request-id'],
      },
    ]);
  });

  it('has no entry if nothing changed, and the file stays exactly the same', async () => {
    const { body } = await patch({ title: 'Hero' });
    for (const same of [{}, { title: ' Hero' }, { title: 'Hero', alt_text: null, folder: '/' }]) {
      expect((await patch(same)).body).toEqual(body);
    }
    expect(await audited()).toHaveLength(1);
  });

  it('records concurrent changes in order, each from the state that the previous one left', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, n) => patch({ title: `t${n}` })));
    const entries = (await audited()) as { before: { title: string }; after: { title: string } }[];
    expect(entries).toHaveLength(12);
    const chain = [null, ...entries.map(({ after }) => after.title)];
    expect(entries.map(({ before }) => before.title)).toEqual(chain.slice(0, -1));
    expect((await key('GET', path)).body.title).toBe(chain.at(-1));
  });
});

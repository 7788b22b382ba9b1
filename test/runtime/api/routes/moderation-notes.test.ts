// Spec: Files (POST moderation-notes).
import { beforeEach, expect, it } from 'vitest';
import { NOTE_LENGTH_MAX } from '../../../../runtime/core/limits.ts';
import { moderationNoteRecord } from '../../../../runtime/core/resources/file.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import {
  codeOf,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/files/hero.png/moderation-notes`;
  await makeFile(api.db, project, { file_slug: 'hero.png' });
});

const post = (body: unknown, at = path) => owner('POST', at, body);
const stored = () =>
  api.db.query<{ note: string }>('select note from moderation_notes where project_id = $1', [
    project.project_id,
  ]);

it('posting a moderation note returns 201 with its text and author, for either field name', async () => {
  const answer = await post({ note: 'a\nlook' });
  expect(answer.status).toBe(201);
  expectRecord(moderationNoteRecord, answer.body);
  expect(answer.body).toMatchObject({
    project_slug: project.project_slug,
    file_slug: 'hero.png',
    note: 'a\nlook',
    author: subject,
  });
  expect((await post({ body: 'other' })).body.note).toBe('other');
});

it('a file has one moderation note, which later and concurrent ones replace', async () => {
  const first = (await post({ note: 'first' })).body;
  const second = (await post({ note: 'second' }, path.replace('hero', 'HERO'))).body;
  expect(second).toMatchObject({ note: 'second', created_at: second.updated_at });
  expect(second.created_at > first.created_at).toBe(true);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => post({ note: `note ${n}` })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(await stored()).toHaveLength(1);
});

it.each([
  [{}, 'note'],
  [{ note: '' }, 'note'],
  [{ body: '' }, 'body'],
  [{ note: ' \n\t' }, 'note'],
  [{ note: 'a', body: 'a' }, 'body'],
  [{ note: null }, 'note'],
  [{ note: 'a\u0000b' }, 'note'],
  [{ note: '😀'.repeat(NOTE_LENGTH_MAX + 1) }, 'note'],
  [{ note: 'a', author: 'me' }, 'author'],
])('posting %j as a moderation note returns 400 invalid_request', async (body, field) => {
  const answer = await post(body);
  expect(codeOf(answer)).toBe('400 invalid_request');
  expect(issuesOf(answer)).toEqual([field]);
  expect(await stored()).toEqual([]);
});

it('a moderation note may be exactly as long as the limit', async () => {
  const note = '😀'.repeat(NOTE_LENGTH_MAX);
  expect((await post({ note })).body.note).toBe(note);
});

it('a moderation note for a slug without a live file returns 404 file_not_found', async () => {
  await owner('DELETE', path.replace('/moderation-notes', ''));
  for (const slug of ['hero.png', 'never', '%00']) {
    const answer = await post({ note: 'x' }, path.replace('hero.png', slug));
    expect(codeOf(answer), slug).toBe('404 file_not_found');
  }
});

it('a moderation note that replaces another becomes the newest in the list', async () => {
  await makeFile(api.db, project, { file_slug: 'side.png' });
  for (const file of ['hero', 'side', 'hero']) {
    await post({ note: `of ${file}` }, path.replace('hero', file));
  }
  const list = `/v1/staff/moderation-notes?project_slug=${project.project_slug}`;
  const { items } = (await api.session(STAFF_SUBJECT)('GET', list)).body;
  expect(items.map((item: { note: string }) => item.note)).toEqual(['of hero', 'of side']);
});

it('staff find a moderation note whatever the case of its slug, and nothing for an invalid slug', async () => {
  await post({ note: 'look' }, path.replace('hero', 'HERO'));
  const list = `/v1/staff/moderation-notes?project_slug=${project.project_slug}&file_slug=`;
  const found = async (slug: string) =>
    (await api.session(STAFF_SUBJECT)('GET', `${list}${encodeURIComponent(slug)}`)).body.items;
  for (const slug of ['hero.png', 'Hero.PNG']) expect(await found(slug), slug).toHaveLength(1);
  for (const slug of ['hero', 'hero .png', '']) expect(await found(slug), slug).toEqual([]);
});

it('a moderation note is audited with the note that it replaced', async () => {
  await post({ note: 'first' });
  await post({ note: 'second' });
  const entries = await api.db.query(
    `select action, actor_id, before, after from audit_log
     where project_id = $1 and action like 'moderation_note%' order by audit_id`,
    [project.project_id],
  );
  const note = (text: string) => ({ file_slug: 'hero.png', note: text, author: subject });
  expect(entries).toEqual([
    { action: 'moderation_note.create', actor_id: subject, before: null, after: note('first') },
    {
      action: 'moderation_note.replace',
      actor_id: subject,
      before: note('first'),
      after: note('second'),
    },
  ]);
});

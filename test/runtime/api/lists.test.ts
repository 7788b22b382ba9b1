// What all lists have in common. Spec: Conventions (keyset pagination, newest first, cursor).
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { CURSOR_LENGTH_MAX } from '../../../runtime/core/limits.ts';
import type { ProjectRecord } from '../../../runtime/core/resources/project.ts';
import { codeOf, createProject, issuesOf, newSubject } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { makeFile, makeUpload } from '../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
/** More than the default page. */
const ROWS = 53;
const lists = [
  { name: 'projects', pathOf: () => '/v1/projects', key: 'project_id' },
  { name: 'uploads', pathOf: (slug: string) => `/v1/projects/${slug}/uploads`, key: 'upload_id' },
  { name: 'files', pathOf: (slug: string) => `/v1/projects/${slug}/files`, key: 'file_id' },
];
let project: ProjectRecord;
let other: ProjectRecord;

beforeAll(async () => {
  for (let n = 0; n < ROWS; n += 1) project = await createProject(owner);
  other = await createProject(api.session(newSubject()));
  for (let n = 0; n < ROWS; n += 1) {
    await makeFile(api.db, project, { file_slug: `f-${n}` });
  }
  await makeUpload(api.db, other);
});

it('every list is tested here', () => {
  const isList = ({ query }: Endpoint) =>
    query !== null &&
    'cursor' in (z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }).properties ?? {});
  const listing = endpoints.filter(isList);
  expect(listing.map(({ path }) => path).toSorted()).toEqual(
    lists.map(({ pathOf }) => pathOf('{slug}')).toSorted(),
  );
});

describe.each(lists)('the list of $name', ({ pathOf, key }) => {
  const get = (query: string) => owner('GET', pathOf(project.project_slug) + query);
  const idsOf = (items: Record<string, string>[]) => items.map((item) => item[key]);

  async function walk(limit: number): Promise<(string | undefined)[]> {
    const ids = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = `?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { status, body } = await get(query);
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(['items', 'next_cursor']);
      expect(body.items.length).toBeLessThanOrEqual(limit);
      ids.push(...idsOf(body.items));
      cursor = body.next_cursor;
    }
    return ids;
  }

  it('has 50 items a page by default, newest first', async () => {
    const { body } = await get('');
    expect(body.items).toHaveLength(50);
    const times = body.items.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(body.next_cursor).toEqual(expect.any(String));
  });

  it('is whole and in the same order page by page, whatever the page', async () => {
    const all = await walk(100);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(ROWS);
    expect(await walk(7)).toEqual(all);
    expect(await walk(all.length)).toEqual(all);
    expect(await walk(all.length - 1)).toEqual(all);
  });

  it('shows what came after the first page was read to no later page', async () => {
    const { body } = await get('?limit=50');
    if (key === 'project_id') await createProject(owner);
    else await makeFile(api.db, project, { file_slug: `late-${key}`.replace('_', '-') });
    const rest = (await get(`?limit=50&cursor=${body.next_cursor}`)).body.items;
    const seen = idsOf(body.items);
    expect(idsOf(rest).filter((id) => seen.includes(id))).toEqual([]);
    expect(rest.length).toBeGreaterThanOrEqual(3);
  });

  it('takes limits from 1 to 100', async () => {
    expect((await get('?limit=1')).body.items).toHaveLength(1);
    expect((await get('?limit=100')).status).toBe(200);
    for (const limit of ['0', '101', '-1', '1.5', '1e1', '', 'x', '%00', '10&limit=10']) {
      const answer = await get(`?limit=${limit}`);
      expect(codeOf(answer), limit).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual(['limit']);
    }
  });

  it('refuses a cursor that is tampered with, too long or empty', async () => {
    const { next_cursor: cursor } = (await get('?limit=1')).body;
    const middle = Math.floor(cursor.length / 2);
    const flipped =
      cursor.slice(0, middle) + (cursor[middle] === 'A' ? 'B' : 'A') + cursor.slice(middle + 1);
    const wrong = [
      flipped,
      `${cursor}A`,
      cursor.slice(1),
      `${cursor}=`,
      'x',
      '',
      '%00',
      'A'.repeat(CURSOR_LENGTH_MAX + 1),
    ];
    for (const each of wrong) {
      expect(codeOf(await get(`?limit=1&cursor=${each}`)), each.slice(0, 99)).toBe(
        '400 invalid_cursor',
      );
    }
    expect((await get(`?limit=1&cursor=${cursor}`)).status).toBe(200);
  });

  it('refuses a cursor of another list, project or filter', async () => {
    const { next_cursor: mine } = (await get('?limit=1')).body;
    for (const each of lists.filter((list) => list.key !== key)) {
      const answer = await owner(
        'GET',
        `${each.pathOf(project.project_slug)}?limit=1&cursor=${mine}`,
      );
      expect(codeOf(answer), each.name).toBe('400 invalid_cursor');
    }
    if (key === 'project_id') return;
    expect(codeOf(await get(`?limit=1&cursor=${mine}&status=ready`))).toBe('400 invalid_cursor');
    const { project_slug } = await createProject(owner);
    const elsewhere = await owner('GET', `${pathOf(project_slug)}?cursor=${mine}`);
    expect(codeOf(elsewhere)).toBe('400 invalid_cursor');
  });

  it('keeps a cursor valid when the size of the page changes', async () => {
    const { next_cursor } = (await get('?limit=1')).body;
    expect((await get(`?limit=5&cursor=${next_cursor}`)).body.items).toHaveLength(5);
  });
});

describe('the list of uploads', () => {
  it('is narrowed by status, and by nothing else that a session can be', async () => {
    const path = `/v1/projects/${project.project_slug}/uploads`;
    const { upload_id } = await makeUpload(api.db, project);
    const { body } = await owner('GET', `${path}?status=created`);
    expect(body.items.map((each: { upload_id: string }) => each.upload_id)).toEqual([upload_id]);
    expect(issuesOf(await owner('GET', `${path}?status=done`))).toEqual(['status']);
    expect(body.items[0]).not.toHaveProperty('direct');
  });
});

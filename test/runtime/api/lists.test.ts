// What all lists have in common. Spec: Conventions (keyset pagination, newest first, cursor).
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tokenCredential } from '../../../runtime/api/auth/principal.ts';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { startApi } from '../../../runtime/api/serve.ts';
import { CURSOR_LENGTH_MAX } from '../../../runtime/core/limits.ts';
import type { ProjectRecord } from '../../../runtime/core/resources/project.ts';
import { insertAccessRequest } from '../../../runtime/db/access-requests.ts';
import { insertIncident } from '../../../runtime/db/incidents.ts';
import { insertLibrary } from '../../../runtime/db/libraries.ts';
import { upsertModerationNote } from '../../../runtime/db/moderation-notes.ts';
import { listen } from '../../../runtime/platform/http/listen.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  issuesOf,
  newSubject,
} from '../../support/api-client.ts';
import { apiConfig } from '../../support/api-config.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';
import { id, makeCheck, makeFile, makeUpload } from '../../support/rows.ts';
import { insertEvent, setCallback } from '../../support/webhooks.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
/** More than fit on a page of the default size. */
const ROWS = 53;
let rows = ROWS;
const nextRow = () => rows++;

type List = {
  name: string;
  pathOf: (slug: string) => string;
  key: string;
  caller: Caller;
  /** One of the list's filters, if it has any. */
  filter?: string;
};

const ofTenants: List[] = [
  { name: 'projects', pathOf: () => '/v1/projects', key: 'project_id', caller: owner },
  ...[
    { name: 'uploads', key: 'upload_id', filter: 'status=ready' },
    { name: 'webhook-deliveries', key: 'id', filter: 'status=delivered' },
    { name: 'files', key: 'file_id', filter: 'status=ready' },
    { name: 'libraries', key: 'library_id' },
  ].map((each) => ({
    ...each,
    pathOf: (slug: string) => `/v1/projects/${slug}/${each.name}`,
    caller: owner,
  })),
];
const ofStaff: List[] = [
  { name: 'access-requests', key: 'id', filter: 'status=new' },
  { name: 'audit', key: 'audit_id', filter: 'action=project.create' },
  { name: 'checks', key: 'check_id', filter: 'status=flagged' },
  { name: 'incidents', key: 'incident_id', filter: 'active_since=2020-01-01T00:00:00Z' },
  { name: 'moderation-notes', key: 'file_slug', filter: 'file_slug=f-1' },
  { name: 'projects', key: 'project_id', filter: 'organization_id=org_none' },
  { name: 'projects/{slug}/files', key: 'file_id', filter: 'status=ready' },
  { name: 'projects/{slug}/uploads', key: 'upload_id', filter: 'status=ready' },
].map((each) => ({
  ...each,
  name: `staff's ${each.name}`,
  pathOf: (slug: string) => `/v1/staff/${each.name.replace('{slug}', slug)}`,
  caller: staff,
}));
const lists = [...ofTenants, ...ofStaff];
let project: ProjectRecord;
let other: ProjectRecord;

beforeAll(async () => {
  for (let n = 0; n < ROWS; n += 1) project = await createProject(owner);
  other = await createProject(api.session(newSubject()));
  const { project_id } = project;
  await setCallback(api.db, { project_id, url: 'https://1.1.1.1/hook', secret: 'whsec_1' });
  for (let n = 0; n < ROWS; n += 1) await insertOfEach(n);
  await makeUpload(api.db, other);
});

/** Adds a row to every list, except projects and the audit log. */
async function insertOfEach(n: number): Promise<void> {
  const { project_id } = project;
  await makeCheck(api.db, await makeFile(api.db, project, { file_slug: `f-${n}` }));
  await insertEvent(api.db, project_id);
  const library = { library_id: id('lib'), project_id, library_slug: `l-${n}`, name: 'It' };
  await insertLibrary(api.db, { ...library, allowed_origins: [] });
  await insertForStaff(n);
}

/** Adds a row to every list that only staff can read. */
async function insertForStaff(n: number): Promise<void> {
  const { db } = api;
  const { project_id } = project;
  const incident = { title: 'Slow', services: ['api'], severity: 'minor' as const, body: '' };
  const incident_id = id('inc');
  await insertIncident(db, { ...incident, incident_id, automatic: false, started_at: new Date() });
  await upsertModerationNote(db, { project_id, file_slug: `f-${n}`, note: 'look', author: 'ada' });
  const nothing = { name: null, company: null, url: null, message: null, use_case: null };
  const request = { ...nothing, plan_interest: null, locale: null };
  const email = `v${n}@example.com`;
  await insertAccessRequest(db, { ...request, access_request_id: id('acr'), email });
}

it('every endpoint with a cursor is covered by this test', () => {
  // The list of the picker has its own limits and tests.
  const isList = ({ query, auth }: Endpoint) =>
    query !== null &&
    tokenCredential(auth) === undefined &&
    'cursor' in (z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }).properties ?? {});
  const listing = endpoints.filter(isList);
  expect(listing.map(({ path }) => path).toSorted()).toEqual(
    lists.map(({ pathOf }) => pathOf('{slug}')).toSorted(),
  );
});

describe.each(lists)('the list of $name', ({ name, pathOf, key, caller, filter }) => {
  const get = (query: string) => caller('GET', pathOf(project.project_slug) + query);
  const idsOf = (items: Record<string, string | number>[]) => items.map((item) => item[key]);

  async function walk(limit: number): Promise<(string | number | undefined)[]> {
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

  it('returns 50 items per page by default, newest first', async () => {
    const { body } = await get('');
    expect(body.items).toHaveLength(50);
    const times = body.items.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(body.next_cursor).toEqual(expect.any(String));
  });

  it('returns every item once and in the same order, whatever the page size', async () => {
    const all = await walk(100);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(ROWS);
    expect(await walk(7)).toEqual(all);
    expect(await walk(all.length)).toEqual(all);
    expect(await walk(all.length - 1)).toEqual(all);
  });

  it('shows on the next page neither an item added meanwhile nor one that was already shown', async () => {
    const { body } = await get('?limit=50');
    await createProject(owner);
    await insertOfEach(nextRow());
    const [newest] = idsOf((await get('?limit=1')).body.items);
    expect(newest).not.toBe(idsOf(body.items)[0]);
    const rest = (await get(`?limit=50&cursor=${body.next_cursor}`)).body.items;
    const seen = idsOf(body.items);
    expect(idsOf(rest).filter((id) => [newest, ...seen].includes(id))).toEqual([]);
    expect(rest.length).toBeGreaterThanOrEqual(3);
  });

  it('accepts limits from 1 to 100 and rejects any other', async () => {
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
    for (const each of lists.filter((list) => list.name !== name)) {
      const path = `${each.pathOf(project.project_slug)}?limit=1&cursor=${mine}`;
      expect(codeOf(await each.caller('GET', path)), each.name).toBe('400 invalid_cursor');
    }
    if (filter === undefined) return;
    expect(codeOf(await get(`?limit=1&cursor=${mine}&${filter}`))).toBe('400 invalid_cursor');
    if (pathOf('{slug}') === pathOf('another')) return;
    const { project_slug } = await createProject(owner);
    const elsewhere = await caller('GET', `${pathOf(project_slug)}?cursor=${mine}`);
    expect(codeOf(elsewhere)).toBe('400 invalid_cursor');
  });

  it('accepts a cursor with another page size', async () => {
    const { next_cursor } = (await get('?limit=1')).body;
    expect((await get(`?limit=5&cursor=${next_cursor}`)).body.items).toHaveLength(5);
  });
});

describe('a cursor', () => {
  const OLD = `t1:${Buffer.alloc(32, 1).toString('base64')}`;
  const NEW = `t2:${Buffer.alloc(32, 2).toString('base64')}`;

  /** Sends one request to an API process with these token keys. */
  async function ask(tokenKeys: string, { path, key }: { path: string; key: string }) {
    const config = apiConfig({ TINTYPE_TOKEN_KEYS: tokenKeys });
    const { server, stop } = startApi(api.deps(), { config, quiet_ms: 0 });
    const port = await listen(server, { port: 0, option: 'TINTYPE_API_PORT' });
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { 'x-api-key': key },
    });
    const body = (await answer.json()) as { next_cursor?: string | null; error?: { code: string } };
    await stop();
    return { code: body.error?.code ?? answer.status, cursor: body.next_cursor };
  }

  it('is accepted by every process that knows its key, whichever key it signs with first', async () => {
    const { project_slug } = project;
    const key = await createKey(owner, project_slug, ['files:read']);
    const path = `/v1/projects/${project_slug}/files?limit=1`;
    const rollout = [OLD, `${OLD},${NEW}`, `${NEW},${OLD}`, NEW];
    const cursors = await Promise.all(rollout.map((keys) => ask(keys, { path, key })));
    const codes = async (keys: string) => {
      const answers = cursors.map(({ cursor }) =>
        ask(keys, { path: `${path}&cursor=${cursor}`, key }),
      );
      return (await Promise.all(answers)).map(({ code }) => code);
    };
    expect(await codes(OLD)).toEqual([200, 200, 'invalid_cursor', 'invalid_cursor']);
    expect(await codes(`${OLD},${NEW}`)).toEqual([200, 200, 200, 200]);
    expect(await codes(`${NEW},${OLD}`)).toEqual([200, 200, 200, 200]);
    expect(await codes(NEW)).toEqual(['invalid_cursor', 'invalid_cursor', 200, 200]);
  });
});

describe('the list of uploads', () => {
  it('filters by status, rejects an unknown status, and shows no upload URL', async () => {
    const path = `/v1/projects/${project.project_slug}/uploads`;
    const { upload_id } = await makeUpload(api.db, project);
    const { body } = await owner('GET', `${path}?status=created`);
    expect(body.items.map((each: { upload_id: string }) => each.upload_id)).toEqual([upload_id]);
    expect(issuesOf(await owner('GET', `${path}?status=done`))).toEqual(['status']);
    expect(body.items[0]).not.toHaveProperty('direct');
  });
});

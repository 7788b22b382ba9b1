// ETag and If-Match: a write based on an outdated state changes nothing. Conditional reads return everything.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  codeOf,
  createKey,
  createProject,
  newSubject,
  signatureOf,
} from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { waitPatiently } from '../../support/patient-database.ts';
import { makeFile } from '../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: string;

beforeAll(async () => {
  const row = await createProject(owner);
  project = `/v1/projects/${row.project_slug}`;
  await makeFile(api.db, row, { file_slug: 'logo.png' });
});

type Conditional = { method: string; path: string; body: object; tag: string };

async function write({ method, path, body, tag }: Conditional) {
  const raw = JSON.stringify(body);
  const session = await api.sessionHeaders(subject);
  const headers = { ...session, ...signatureOf(method, path, raw), 'if-match': tag };
  return api.send({ method, path, raw, headers });
}

const tagOf = async (path: string) => {
  const { headers } = await owner('GET', path);
  expect(headers.etag).toMatch(/^"[\w-]{27}"$/);
  return headers.etag ?? '';
};

/** For each kind of record: how to create it, and a change that always alters it. */
const kinds = [
  {
    kind: 'project',
    method: 'PATCH',
    make: async () => `/v1/projects/${(await createProject(owner)).project_slug}`,
    change: () => ({ name: newSubject() }),
  },
  {
    kind: 'recipe',
    method: 'PUT',
    make: () => putNew('recipes', { name: newSubject(), transform_chain: 'quality/5' }),
    change: () => ({ name: newSubject(), transform_chain: 'quality/6' }),
  },
  {
    kind: 'watermark preset',
    method: 'PUT',
    make: () => putNew('watermark-presets', { name: newSubject(), file_slug: 'logo.png' }),
    change: () => ({ name: newSubject(), file_slug: 'logo.png', opacity: 6 }),
  },
];

async function putNew(list: string, body: object): Promise<string> {
  const answer = await owner('PUT', `${project}/${list}`, body);
  expect(answer.status, answer.text).toBe(201);
  expect(answer.headers.etag).toBe(await tagOf(`${project}/${list}/${answer.body.id}`));
  return `${project}/${list}/${answer.body.id}`;
}

describe.each(kinds)('If-Match on a $kind', ({ method, make, change }) => {
  it('accepts the current ETag and returns the new one', async () => {
    const path = await make();
    const tag = await tagOf(path);
    const answer = await write({ method, path, body: change(), tag });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.etag).toBe(await tagOf(path));
    expect(answer.headers.etag).not.toBe(tag);
  });

  it('rejects an outdated, weak, unknown or unquoted ETag with 412 and changes nothing', async () => {
    const path = await make();
    const old = await tagOf(path);
    expect((await owner(method, path, change())).status).toBe(200);
    const tag = await tagOf(path);
    for (const wrong of [old, `W/${tag}`, '"stranger"', tag.replaceAll('"', '')]) {
      const answer = await write({ method, path, body: change(), tag: wrong });
      expect(codeOf(answer), wrong).toBe('412 precondition_failed');
    }
    expect(await tagOf(path)).toBe(tag);
  });

  it('accepts * and a list that contains the current ETag', async () => {
    const path = await make();
    expect((await write({ method, path, body: change(), tag: '*' })).status).toBe(200);
    const tag = `"stranger", ${await tagOf(path)}`;
    expect((await write({ method, path, body: change(), tag })).status).toBe(200);
  });

  it('lets exactly one of 20 concurrent writes with the same ETag succeed', async () => {
    waitPatiently(api);
    const path = await make();
    const tag = await tagOf(path);
    const writes = Array.from({ length: 20 }, () => write({ method, path, body: change(), tag }));
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(19);
  });
});

it('If-Match: * on a nonexistent record returns 412 and creates nothing', async () => {
  const path = `${project}/recipes/rcp_${'0'.repeat(26)}`;
  const body = { name: newSubject(), transform_chain: 'quality/5' };
  expect(codeOf(await write({ method: 'PUT', path, body, tag: '*' }))).toBe(
    '412 precondition_failed',
  );
  expect((await owner('GET', path)).status).toBe(404);
});

it('a project’s ETag does not change when a file or a watermark preset is added', async () => {
  const row = await createProject(owner);
  const path = `/v1/projects/${row.project_slug}`;
  const tag = await tagOf(path);
  await makeFile(api.db, row, { file_slug: 'one.png' });
  const preset = { name: 'mark', file_slug: 'one.png' };
  expect((await owner('PUT', `${path}/watermark-presets`, preset)).status).toBe(201);
  const { file_count, updated_at } = (await owner('GET', path)).body;
  expect({ file_count, updated_at }).toEqual({ file_count: 1, updated_at: row.updated_at });
  expect(await tagOf(path)).toBe(tag);
});

it('rotating the signing key does not invalidate the project’s ETag', async () => {
  const row = await createProject(owner);
  const path = `/v1/projects/${row.project_slug}`;
  const tag = await tagOf(path);
  const rotated = await owner('POST', `${path}/signing-keys/rotate`);
  const { body } = await owner('GET', path);
  expect(body).toEqual({ ...row, active_signing_kid: rotated.body.kid });
  expect(body.active_signing_kid).not.toBe(row.active_signing_kid);
  const answer = await write({ method: 'PATCH', path, body: { name: 'New' }, tag });
  expect(answer.status, answer.text).toBe(200);
});

describe('a GET with If-None-Match', () => {
  const read = async (path: string, tag: string): Promise<Answer> => {
    const session = await api.sessionHeaders(subject);
    return api.send({ path, headers: { ...session, 'if-none-match': tag } });
  };

  it('returns a project in full after its counters have changed', async () => {
    const row = await createProject(owner);
    const path = `/v1/projects/${row.project_slug}`;
    const tag = await tagOf(path);
    await makeFile(api.db, row, { file_slug: 'one.png' });
    const { status, body } = await read(path, tag);
    expect([status, body?.file_count]).toEqual([200, 1]);
  });

  it('returns a recipe in full after its resolution preset was removed', async () => {
    const row = await createProject(owner, { resolution_presets: { t: 'resize/9x9' } });
    const path = `/v1/projects/${row.project_slug}`;
    const recipe = { name: 'hero', transform_chain: 'preset:t' };
    const { body: made } = await owner('PUT', `${path}/recipes`, recipe);
    const tag = await tagOf(`${path}/recipes/${made.id}`);
    expect((await owner('PATCH', path, { resolution_presets: {} })).status).toBe(200);
    const { status, body } = await read(`${path}/recipes/${made.id}`, tag);
    expect([made.valid, status, body?.valid]).toEqual([true, 200, false]);
  });

  it('returns the full body for *', async () => {
    const slug = project.split('/').at(-1) ?? '';
    const headers = { 'x-api-key': await createKey(owner, slug), 'if-none-match': '*' };
    for (const path of [project, '/v1/key', '/v1/public/status', '/readyz']) {
      const { status, body } = await api.send({ path, headers });
      expect([path, status, typeof body]).toEqual([path, 200, 'object']);
    }
  });
});

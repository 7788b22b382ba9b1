// Spec: API keys (GET, revoke, rotate); API key; Rules 2.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  apiKeyRecord,
  type CreatedApiKeyRecord,
  createdApiKeyRecord,
} from '../../../../runtime/core/resources/api-key.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { codeOf, createProject, expectRecord, newSubject } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { waitPatiently } from '../../../support/patient-database.ts';
import { id } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
const ACTIVE_MAX = 100;
let project: ProjectRecord;
let path: string;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/keys`;
});

const make = async (body: object = {}): Promise<CreatedApiKeyRecord> =>
  (await owner('POST', path, { name: 'server', ...body })).body;
const revoke = (key_id: string) => owner('POST', `${path}/${key_id}/revoke`);
const rotate = (key_id: string) => owner('POST', `${path}/${key_id}/rotate`);
const list = async () => (await owner('GET', path)).body;
const opens = async (secret: string) => (await api.withKey(secret)('GET', '/v1/key')).status;
const together = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

async function countActive(): Promise<number> {
  const rows = await api.db.query(
    `select 1 from api_keys where project_id = $1 and status = 'active'`,
    [project.project_id],
  );
  return rows.length;
}

/** Inserts keys directly into the table; nobody knows their secrets. */
async function fill(count: number): Promise<void> {
  await api.db.query(
    `insert into api_keys (key_id, project_id, name, secret_sha256, prefix, last_four)
     select 'key_' || substr(md5($1 || n), 1, 26), $1, 'server', md5($1 || n) || md5(n || $1), 'tin_live_', '0000'
     from generate_series(1, $2::int) n`,
    [project.project_id, count],
  );
}

const audited = async () =>
  api.db.query<Record<string, unknown>>(
    `select actor_kind, actor_id, action, target, before, after, request_id from audit_log
     where project_id = $1 and action like 'api_key.%' order by audit_id`,
    [project.project_id],
  );

describe('GET …/keys', () => {
  it('returns all keys, including revoked ones, newest first and without secrets', async () => {
    expect(await list()).toEqual({ items: [], next_cursor: null });
    const [one, two] = [await make(), await make({ scopes: ['urls:sign'] })];
    await revoke(one.id);
    const { items, next_cursor } = await list();
    expect(next_cursor).toBeNull();
    for (const item of items) expectRecord(apiKeyRecord, item);
    expect(items).toMatchObject([
      { id: two.id, scopes: ['urls:sign'], status: 'active' },
      { id: one.id, status: 'revoked' },
    ]);
    for (const { plaintext_secret } of [one, two])
      expect(JSON.stringify(items)).not.toContain(plaintext_secret);
  });

  it('returns a bounded list, newest first, that includes every active key', async () => {
    const oldest = await make();
    await fill(10);
    await api.db.query(
      `insert into api_keys (key_id, project_id, name, secret_sha256, prefix, last_four, status, revoked_at)
       select 'key_' || substr(md5($1 || 'old' || n), 1, 26), $1, 'server', md5($1 || n) || md5($1 || 'old' || n),
         'tin_live_', '0000', 'revoked', now() from generate_series(1, 1200) n`,
      [project.project_id],
    );
    const { items } = await list();
    expect(items.length).toBeGreaterThanOrEqual(1000);
    expect(items.length).toBeLessThanOrEqual(1000 + ACTIVE_MAX);
    expect(items.at(-1).id).toBe(oldest.id);
    const active = items.filter(({ status }: { status: string }) => status === 'active');
    expect(active).toHaveLength(11);
    const times = items.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
  });
});

describe('POST …/keys/{keyId}/revoke', () => {
  it('revokes the key immediately and is idempotent, with a single audit entry', async () => {
    waitPatiently(api);
    const { id: key_id, plaintext_secret } = await make();
    expect(await opens(plaintext_secret)).toBe(200);
    const answers = await together(10, () => revoke(key_id));
    const [first] = answers;
    expect(first?.status).toBe(200);
    expectRecord(apiKeyRecord, first?.body);
    expect(first?.body).toMatchObject({ id: key_id, status: 'revoked' });
    for (const each of [...answers, await revoke(key_id)]) expect(each.body).toEqual(first?.body);
    expect(await opens(plaintext_secret)).toBe(401);
    const actions = (await audited()).map(({ action }) => action);
    expect(actions).toEqual(['api_key.create', 'api_key.revoke']);
  });

  it('returns 404 for an unknown key or one of another project, as rotate does', async () => {
    const { id: key_id, plaintext_secret } = await make();
    const { project_slug } = await createProject(owner);
    const elsewhere = `/v1/projects/${project_slug}/keys/${key_id}`;
    for (const operation of ['revoke', 'rotate']) {
      expect(codeOf(await owner('POST', `${elsewhere}/${operation}`))).toBe('404 not_found');
      for (const unknown of [id('key'), 'x', '%00', 'key_'])
        expect(codeOf(await owner('POST', `${path}/${unknown}/${operation}`))).toBe(
          '404 not_found',
        );
    }
    expect(await opens(plaintext_secret)).toBe(200);
  });
});

describe('POST …/keys/{keyId}/rotate', () => {
  it('creates a key with the same name and scopes, and revokes the old one', async () => {
    const old = await make({ name: 'CI', scopes: ['files:read', 'urls:sign'] });
    const { status, body } = await rotate(old.id);
    expect(status).toBe(200);
    expectRecord(createdApiKeyRecord, body);
    expect(body).toMatchObject({ name: 'CI', scopes: old.scopes, status: 'active' });
    expect(body.id).not.toBe(old.id);
    expect([await opens(old.plaintext_secret), await opens(body.plaintext_secret)]).toEqual([
      401, 200,
    ]);
    expect((await list()).items).toMatchObject([
      { id: body.id, status: 'active' },
      { id: old.id, status: 'revoked' },
    ]);
  });

  it('keeps full access if the old key had it', async () => {
    const { body } = await rotate((await make()).id);
    const [row] = await api.db.query('select scopes from api_keys where key_id = $1', [body.id]);
    expect(row).toEqual({ scopes: null });
  });

  it('returns 409 api_key_revoked for a key that was rotated or revoked', async () => {
    const { id: key_id } = await make();
    await rotate(key_id);
    expect(codeOf(await rotate(key_id))).toBe('409 api_key_revoked');
    const other = await make();
    await revoke(other.id);
    expect(codeOf(await rotate(other.id))).toBe('409 api_key_revoked');
  });

  it('succeeds at most once with concurrent rotations and revocations', async () => {
    waitPatiently(api);
    const { id: key_id } = await make();
    const codes = (await together(20, () => rotate(key_id))).map(codeOf).toSorted();
    expect(codes).toEqual(['200', ...Array(19).fill('409 api_key_revoked')]);
    const raced = await make();
    const before = await countActive();
    const answers = await together(10, (n) => (n % 2 === 0 ? revoke : rotate)(raced.id));
    const rotated = answers.filter(({ body }) => body.plaintext_secret !== undefined);
    expect(rotated.length).toBeLessThanOrEqual(1);
    expect(await countActive()).toBe(before - 1 + rotated.length);
  });

  it('works at 100 active keys, and never exceeds them with concurrent creations and rotations', async () => {
    waitPatiently(api);
    const keys = await together(3, () => make());
    await fill(ACTIVE_MAX - keys.length);
    const { body } = await rotate(keys[0]?.id ?? '');
    expect(await opens(body.plaintext_secret)).toBe(200);
    const answers = await together(30, (n) =>
      n < 10
        ? owner('POST', path, { name: 'more' })
        : rotate((n < 20 ? keys[1] : keys[2])?.id ?? ''),
    );
    const codes = answers.map(codeOf);
    expect(codes.slice(0, 10)).toEqual(Array(10).fill('409 api_key_quota_exceeded'));
    expect(codes.slice(10).filter((code) => code === '200')).toHaveLength(2);
    expect(await countActive()).toBe(ACTIVE_MAX);
  });
});

describe('the limit of 100 active keys', () => {
  it('lets one of 50 concurrent requests succeed at 99 keys', async () => {
    waitPatiently(api);
    await fill(ACTIVE_MAX - 1);
    const answers = await together(50, () => owner('POST', path, { name: 'server' }));
    expect(answers.map(codeOf).toSorted()).toEqual([
      '201',
      ...Array(49).fill('409 api_key_quota_exceeded'),
    ]);
    expect(await countActive()).toBe(ACTIVE_MAX);
  });
});

describe('the audit log of API keys', () => {
  it('records every write with its actor and its change, without the secret', async () => {
    const made = await owner('POST', path, { name: 'CI', scopes: ['files:read'] });
    const rotated = await rotate(made.body.id);
    const revoked = await revoke(rotated.body.id);
    const scopes = ['files:read'];
    const [old, fresh] = [made.body, rotated.body].map(({ last_four }) => ({
      name: 'CI',
      scopes,
      last_four,
    }));
    const by = { actor_kind: 'user', actor_id: subject };
    const rows = await audited();
    expect(rows).toMatchObject([
      { ...by, action: 'api_key.create', target: made.body.id, before: null, after: old },
      {
        ...by,
        action: 'api_key.rotate',
        target: made.body.id,
        after: { id: rotated.body.id, ...fresh },
      },
      { ...by, action: 'api_key.revoke', target: rotated.body.id, before: fresh, after: null },
    ]);
    const requests = [made, rotated, revoked].map(({ headers }) => headers['x-request-id']);
    expect(rows.map(({ request_id }) => request_id)).toEqual(requests);
    for (const { body } of [made, rotated])
      expect(JSON.stringify(rows)).not.toContain(body.plaintext_secret.slice(9, -4));
  });
});

// A tenant's calls from the dashboard: organization, projects, API keys, signing keys and signed URLs, over HTTP only.
// Deliveries must agree with them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import {
  anonymous,
  type Caller,
  codeOf,
  deliver,
  targetOf,
  withKey,
  withSession,
  withStaffSession,
} from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { upload } from './support/upload.ts';

const DAY_MS = 24 * 3600 * 1000;

let tintype: UsedTintype;
let alice: Caller;
let bob: Caller;
let staff: Caller;
let picture: Buffer;

beforeAll(async () => {
  tintype = await takeTintype();
  picture = await over(photograph(64, 48)).jpeg().toBuffer();
  [alice, bob, staff] = await Promise.all([
    withSession(tintype, 'alice'),
    withSession(tintype, 'bob'),
    withStaffSession(tintype),
  ]);
});

afterAll(() => tintype?.stop());

async function newProject(project_slug: string, settings: object = {}) {
  const made = await alice('POST', '/v1/projects', { project_slug, ...settings });
  expect(made.status, String(made.bytes)).toBe(201);
  const path = `/v1/projects/${project_slug}`;
  const key = await alice('POST', `${path}/keys`, { name: 'server' });
  return { path, key: key.body, call: withKey(tintype, key.body.plaintext_secret) };
}

async function withPhoto(project_slug: string, settings: object = {}) {
  const project = await newProject(project_slug, settings);
  const photo = { bytes: picture, content_type: 'image/jpeg', file_slug: 'photo.jpg' };
  const { status } = await upload(project.call, project_slug, photo);
  expect(status).toBe('ready');
  return project;
}

describe('an organization', () => {
  it('exists once per user, and POST returns the existing one', async () => {
    const { organization } = (await alice('GET', '/v1/me')).body;
    const list = await alice('GET', '/v1/organizations');
    expect(list.body).toEqual({ items: [organization], next_cursor: null });
    const posted = await alice('POST', '/v1/organizations', { name: 'Another', color: 1 });
    expect([posted.status, posted.body]).toEqual([200, organization]);
    const other = (await bob('GET', '/v1/organizations')).body.items;
    expect(other[0].organization_id).not.toBe(organization.organization_id);
  });

  it('can be created by staff, who can also create projects in it', async () => {
    const made = await staff('POST', '/v1/organizations', { name: 'Acme' });
    expect([made.status, made.body.name]).toEqual([201, 'Acme']);
    const { organization_id } = made.body;
    const project = { project_slug: 'of-acme', organization_id };
    const created = await staff('POST', '/v1/projects', project);
    expect([created.status, created.body.organization_id]).toEqual([201, organization_id]);
    expect(codeOf(await alice('GET', '/v1/projects/of-acme'))).toBe('404 not_found');
    const theirs = { project_slug: 'theirs', organization_id };
    expect(codeOf(await alice('POST', '/v1/projects', theirs))).toBe('403 staff_only_field');
    expect(codeOf(await staff('POST', '/v1/organizations', {}))).toBe('400 invalid_request');
  });
});

describe('a project', () => {
  it('is created by only one of 50 concurrent calls', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 === 0 ? alice : bob)('POST', '/v1/projects', { slug: 'raced' }),
      ),
    );
    const codes = answers.map(codeOf).toSorted();
    expect(codes).toEqual(['201', ...Array(49).fill('409 project_exists')]);
  });

  it('returns its callback secret only when it is created or rotated', async () => {
    const { path } = await newProject('hooked');
    const secretOf = async (body: object) =>
      (await alice('PATCH', path, body)).body.callback_secret ?? null;
    const first = await secretOf({ callback_url: 'https://1.1.1.1/hook' });
    expect(first).toEqual(expect.any(String));
    expect(await secretOf({ callback_url: 'https://8.8.8.8/hook' })).toBeNull();
    const second = await secretOf({ rotate_callback_secret: true });
    expect([second === null, second === first]).toEqual([false, false]);
    for (const read of [await alice('GET', path), await alice('GET', '/v1/projects')]) {
      expect(String(read.bytes)).not.toMatch(new RegExp(`${first}|${second}`));
      expect(String(read.bytes)).toContain('"callback_secret_set":true');
    }
    for (const callback_url of ['https://127.0.0.1/', 'https://[::1]/', 'https://10.0.0.1/']) {
      const { body } = await alice('PATCH', path, { callback_url });
      expect(body.error.details.issues).toEqual([
        { path: 'callback_url', message: expect.stringContaining('public') },
      ]);
    }
  });

  it('reports every invalid preset, transform chain and unknown field at once', async () => {
    const { path } = await newProject('strict');
    const { body } = await alice('PATCH', path, {
      resolution_presets: { good: 'resize/1x1', 'Not-Good': 'resize/1x1', bad: 'rotate/90' },
      allowed_transform_chains: ['resize/1x1', 'resize/9000x1', 'quality/0'],
      unknown: 1,
    });
    const paths = body.error.details.issues.map((issue: { path: string }) => issue.path);
    expect(paths.toSorted()).toEqual([
      'allowed_transform_chains[1]',
      'allowed_transform_chains[2]',
      'resolution_presets.Not-Good',
      'resolution_presets.bad',
      'unknown',
    ]);
  });

  it('lets only staff change its price multiplier and storage limit', async () => {
    const { path } = await newProject('priced');
    const input = { pricing_multiplier: 1.25, storage_hard_limit_bytes: 5_000_000 };
    expect(codeOf(await alice('PATCH', path, input))).toBe('403 staff_only_field');
    const { body } = await staff('PATCH', path, input);
    expect(body).toMatchObject({ ...input, storage_limit_source: 'staff' });
  });

  it('is suspended by any number of DELETE calls, and keeps its files when reactivated', async () => {
    const { path, call } = await withPhoto('deleted');
    for (let count = 0; count < 3; count += 1) {
      const gone = await alice('DELETE', path);
      expect([gone.status, gone.bytes.length]).toEqual([204, 0]);
    }
    const { body } = await alice('GET', path);
    expect([body.status, body.suspended_by]).toEqual(['suspended', 'owner']);
    expect(codeOf(await call('GET', '/v1/key'))).toBe('401 unauthorized');
    const view = { project: 'deleted', path: '/originals/f/photo.jpg' };
    expect(codeOf(await deliver(tintype, view))).toBe('403 project_suspended');
    await alice('PATCH', path, { status: 'active' });
    expect((await call('GET', `${path}/files/photo.jpg`)).status).toBe(200);
    expect(codeOf(await bob('DELETE', path))).toBe('404 not_found');
  });
});

describe('API keys', () => {
  it('are listed newest first without secrets, rotated in one call, and revoked permanently', async () => {
    const { path, key } = await newProject('keyed');
    const rotated = await alice('POST', `${path}/keys/${key.id}/rotate`);
    expect(rotated.status).toBe(200);
    expect(rotated.body).toMatchObject({ name: key.name, scopes: key.scopes, status: 'active' });
    const opens = async (secret: string) =>
      (await withKey(tintype, secret)('GET', '/v1/key')).status;
    expect(await opens(key.plaintext_secret)).toBe(401);
    expect(await opens(rotated.body.plaintext_secret)).toBe(200);
    const again = await alice('POST', `${path}/keys/${key.id}/rotate`);
    expect(codeOf(again)).toBe('409 api_key_revoked');
    const revoke = () => alice('POST', `${path}/keys/${rotated.body.id}/revoke`);
    const revoked = await revoke();
    expect([revoked.status, revoked.body.status]).toEqual([200, 'revoked']);
    expect((await revoke()).body).toEqual(revoked.body);
    expect(await opens(rotated.body.plaintext_secret)).toBe(401);
    const list = await alice('GET', `${path}/keys`);
    expect(list.body.next_cursor).toBeNull();
    const shown = list.body.items.map(({ id, status }: Record<string, string>) => [id, status]);
    expect(shown).toEqual([
      [rotated.body.id, 'revoked'],
      [key.id, 'revoked'],
    ]);
    expect(String(list.bytes)).not.toContain('secret');
  });

  it('can be managed only with a session of their organization, and so can signing keys', async () => {
    const { path, key, call } = await newProject('closed');
    const calls: [string, string][] = [
      ['GET', `${path}/keys`],
      ['POST', `${path}/keys/${key.id}/rotate`],
      ['POST', `${path}/keys/${key.id}/revoke`],
      ['GET', `${path}/signing-keys`],
      ['POST', `${path}/signing-keys/rotate`],
      ['DELETE', path],
    ];
    for (const [method, target] of calls) {
      expect(codeOf(await call(method, target)), target).toBe('403 browser_session_required');
      expect(codeOf(await bob(method, target)), target).toBe('404 not_found');
      expect(codeOf(await anonymous(tintype)(method, target)), target).toBe('401 unauthorized');
    }
    expect((await call('GET', '/v1/key')).headers['cache-control']).toBe('no-store');
  });
});

describe('signing keys', () => {
  it('are rotated without invalidating URLs of the previous key, which retires after a day', async () => {
    const { path } = await withPhoto('guarded', { delivery_access: 'protected' });
    const view = async (url: string) =>
      (await deliver(tintype, { project: 'guarded', path: targetOf(url) })).status;
    const input = { file_slug: 'photo.jpg', transform_chain: 'resize/20x20' };
    const mint = async () => (await alice('POST', `${path}/signed-url`, input)).body;
    const old = await mint();
    expect(await view(old.url)).toBe(200);
    const before = Date.now();
    const rotated = await alice('POST', `${path}/signing-keys/rotate`);
    expect([rotated.status, rotated.body.status]).toEqual([200, 'active']);
    const fresh = await mint();
    expect([fresh.kid, fresh.kid === old.kid]).toEqual([rotated.body.kid, false]);
    expect([await view(fresh.url), await view(old.url)]).toEqual([200, 200]);
    const { items } = (await alice('GET', `${path}/signing-keys`)).body;
    expect(items.map(({ kid }: { kid: string }) => kid)).toEqual([fresh.kid, old.kid]);
    const end = Date.parse(items[1].retire_after) - DAY_MS;
    expect(end).toBeGreaterThanOrEqual(before - 1000);
    expect(end).toBeLessThanOrEqual(Date.now() + 1000);
    const crossed = fresh.url.replace(fresh.kid, old.kid);
    expect(await view(crossed)).toBe(403);
  });

  it('sign originals and raw downloads that are requested as transform chains', async () => {
    const { path } = await withPhoto('aliased');
    await alice('PATCH', path, { raw_download_enabled: true });
    for (const transform_chain of ['originals', 'download/raw']) {
      const input = { file_slug: 'photo.jpg', transform_chain };
      const { body } = await alice('POST', `${path}/signed-url`, input);
      expect(new URL(body.url).pathname).toBe(`/${transform_chain}/f/photo.jpg`);
      const seen = await deliver(tintype, { project: 'aliased', path: targetOf(body.url) });
      expect(seen.status).toBe(200);
    }
  });
});

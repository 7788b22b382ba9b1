// Spec: API keys (POST); API key; GET /v1/key.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createdApiKeyRecord,
  keyIntrospectionRecord,
} from '../../../../runtime/core/resources/api-key.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { apiKeyScopes } from '../../../../runtime/core/scopes.ts';
import {
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';

const api = useApi();
const owner = api.session(newSubject());
let project: ProjectRecord;
let path: string;

beforeAll(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/keys`;
});

describe('POST …/keys', () => {
  it('returns the secret, which is not stored in plain text', async () => {
    const { status, body } = await owner('POST', path, { name: ' server ' });
    expect(status).toBe(201);
    expectRecord(createdApiKeyRecord, body);
    expect(body).toMatchObject({
      name: 'server',
      scopes: apiKeyScopes,
      status: 'active',
      last_used_at: null,
    });
    expect(body.id).toMatch(/^key_[0-9a-z]{26}$/);
    expect(body.plaintext_secret).toMatch(/^tin_live_[0-9a-f]{36}$/);
    expect(body.plaintext_secret.startsWith(body.prefix)).toBe(true);
    expect(body.plaintext_secret.endsWith(body.last_four)).toBe(true);
    const rows = await api.db.query('select k::text as row from api_keys k where key_id = $1', [
      body.id,
    ]);
    expect(JSON.stringify(rows)).not.toContain(body.plaintext_secret);
  });

  it('stores the chosen scopes without duplicates', async () => {
    const scopes = ['urls:sign', 'files:read', 'urls:sign'];
    const { body } = await owner('POST', path, { name: 'server', scopes });
    expect(body.scopes).toEqual(['files:read', 'urls:sign']);
  });

  it('rejects an empty scope list, unknown scopes and fields, and a missing name', async () => {
    const wrong: [object, string][] = [
      [{ name: 'x', scopes: [] }, 'scopes'],
      [{ name: 'x', scopes: ['files:delete'] }, 'scopes[0]'],
      [{ name: 'x', scopes: null }, 'scopes'],
      [{ scopes: ['files:read'] }, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x', plaintext_secret: 'mine' }, 'plaintext_secret'],
    ];
    for (const [body, field] of wrong) {
      const answer = await owner('POST', path, body);
      expect(codeOf(answer), JSON.stringify(body)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual([field]);
    }
  });

  it('creates at most 100 active keys, even with concurrent requests', async () => {
    const { project_id, project_slug } = await createProject(owner);
    await api.db.query(
      `insert into api_keys (key_id, project_id, name, secret_sha256, prefix, last_four)
       select 'key_' || lpad(n::text, 26, '0'), $1, 'server', lpad(n::text, 64, '0'), 'tin_live_', '0000'
       from generate_series(1, 97) n`,
      [project_id],
    );
    const create = () => owner('POST', `/v1/projects/${project_slug}/keys`, { name: 'server' });
    const answers = await Promise.all(Array.from({ length: 8 }, create));
    expect(answers.map(codeOf).toSorted()).toEqual([
      ...Array(3).fill('201'),
      ...Array(5).fill('409 api_key_quota_exceeded'),
    ]);
    await api.db.query(
      `update api_keys set status = 'revoked', revoked_at = now() where key_id = 'key_' || lpad('1', 26, '0')`,
    );
    expect((await create()).status).toBe(201);
  });
});

describe('GET /v1/key', () => {
  it('returns the calling key with its project, without the secret', async () => {
    const secret = await createKey(owner, project.project_slug, ['recipes:read']);
    const { status, body, text } = await api.withKey(secret)('GET', '/v1/key');
    expect(status).toBe(200);
    expectRecord(keyIntrospectionRecord, body);
    expect(body).toMatchObject({
      scopes: ['recipes:read'],
      project_slug: project.project_slug,
      project_id: project.project_id,
      organization_id: project.organization_id,
    });
    expect(text).not.toContain(secret);
  });

  it('returns when the key was last used before this request', async () => {
    const call = api.withKey(await createKey(owner, project.project_slug));
    expect((await call('GET', '/v1/key')).body.last_used_at).toBeNull();
    const { body } = await call('GET', '/v1/key');
    expect(body.last_used_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  });

  it('returns 401 unauthorized for a revoked key', async () => {
    const secret = await createKey(owner, project.project_slug);
    await api.db.query(
      `update api_keys set status = 'revoked', revoked_at = now() where last_four = $1`,
      [secret.slice(-4)],
    );
    expect(codeOf(await api.withKey(secret)('GET', '/v1/key'))).toBe('401 unauthorized');
  });
});

// Every audited write commits its audit entry in the same transaction: if it is killed, neither remains.
// Spec: Endpoints (audited); Files; Signing keys and signed URLs.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { type Caller, codeOf, createProject, newSubject } from '../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';
import { ORIGIN, usualInput } from '../../support/library-sessions.ts';
import { id, makeCheck, makeFile } from '../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
const staff = api.session(STAFF_SUBJECT);
const presetId = id('wm');
const recipeId = id('rcp');
let slug = '';
let webhookId = '';
let organizationId = '';
let fileId = '';
let checkId = '';
let incidentId = '';
let doomed = '';
const keys = { revoked: '', rotated: '', mints: '' };
let mintingKeyId = '';

beforeAll(async () => {
  const project = await createProject(owner);
  slug = project.project_slug;
  doomed = (await createProject(owner)).project_slug;
  for (const file_slug of ['logo.png', 'old.png']) await makeFile(api.db, project, { file_slug });
  for (const name of ['revoked', 'rotated'] as const) {
    keys[name] = (await owner('POST', `/v1/projects/${slug}/keys`, { name })).body.id;
  }
  const minting = (await owner('POST', `/v1/projects/${slug}/keys`, { name: 'mints' })).body;
  keys.mints = minting.plaintext_secret;
  mintingKeyId = minting.id;
  // Records the use of the key now: for a minute, further uses write nothing.
  await api.withKey(keys.mints)('GET', '/v1/key');
  await owner('PATCH', `/v1/projects/${slug}`, { callback_url: 'https://1.1.1.1/hook' });
  webhookId = (await owner('POST', `/v1/projects/${slug}/webhook-test`)).body.id;
  await staff('GET', '/v1/me');
  organizationId = project.organization_id;
  const file = await makeFile(api.db, project, { file_slug: 'seen.png' });
  fileId = file.file_id;
  checkId = await makeCheck(api.db, await makeFile(api.db, project, { file_slug: 'flagged.png' }));
  const incident = { title: 'Down', services: ['api'], severity: 'major', body: 'Down.' };
  incidentId = (await staff('POST', '/v1/staff/incidents', incident)).body.incident_id;
  await api.db.query(
    `create function end_writer() returns trigger language plpgsql as $$
     begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
  );
});

type AuditedCall = { action: string; path?: () => string; body?: unknown; caller?: Caller };

const recipe = { name: 'hero', transform_chain: 'quality/50' };
const preset = { name: 'corner', file_slug: 'logo.png' };

/** By endpoint, in an order in which each call can succeed. */
const customerCalls: Record<string, AuditedCall> = {
  'POST /v1/organizations': { action: 'organization.create', body: { name: 'New' }, caller: staff },
  'POST /v1/projects': {
    action: 'project.create',
    body: { project_slug: `p-${newSubject().slice(5)}` },
  },
  'PATCH /v1/projects/{slug}': { action: 'project.update', body: { name: 'Renamed' } },
  'DELETE /v1/projects/{slug}': { action: 'project.delete', path: () => `/v1/projects/${doomed}` },
  'POST /v1/projects/{slug}/keys': { action: 'api_key.create', body: { name: 'server' } },
  'POST /v1/projects/{slug}/keys/{keyId}/revoke': {
    action: 'api_key.revoke',
    path: () => `/v1/projects/${slug}/keys/${keys.revoked}/revoke`,
  },
  'POST /v1/projects/{slug}/keys/{keyId}/rotate': {
    action: 'api_key.rotate',
    path: () => `/v1/projects/${slug}/keys/${keys.rotated}/rotate`,
  },
  'POST /v1/projects/{slug}/webhook-deliveries/{id}/redeliver': {
    action: 'webhook.redeliver',
    path: () => `/v1/projects/${slug}/webhook-deliveries/${webhookId}/redeliver`,
  },
  'POST /v1/projects/{slug}/webhook-test': { action: 'webhook.test' },
  'POST /v1/projects/{slug}/signing-keys/rotate': { action: 'signing_key.rotate' },
  'POST /v1/projects/{slug}/signed-url': {
    action: 'signed_url.mint',
    body: { file_slug: 'logo.png' },
  },
  'PUT /v1/projects/{slug}/watermark-presets': { action: 'watermark_preset.create', body: preset },
  'PUT /v1/projects/{slug}/watermark-presets/{id}': {
    action: 'watermark_preset.create',
    body: { ...preset, name: 'other' },
    path: () => `/v1/projects/${slug}/watermark-presets/${presetId}`,
  },
  'DELETE /v1/projects/{slug}/watermark-presets/{id}': {
    action: 'watermark_preset.delete',
    path: () => `/v1/projects/${slug}/watermark-presets/${presetId}`,
  },
  'PUT /v1/projects/{slug}/recipes': { action: 'recipe.create', body: recipe },
  'PUT /v1/projects/{slug}/recipes/{id}': {
    action: 'recipe.create',
    body: { ...recipe, name: 'other' },
    path: () => `/v1/projects/${slug}/recipes/${recipeId}`,
  },
  'DELETE /v1/projects/{slug}/recipes/{id}': {
    action: 'recipe.delete',
    path: () => `/v1/projects/${slug}/recipes/${recipeId}`,
  },
  'PATCH /v1/projects/{slug}/files/{fileSlug}': { action: 'file.update', body: { title: 'Logo' } },
  'POST /v1/projects/{slug}/files/{fileSlug}/moderation-notes': {
    action: 'moderation_note.create',
    body: { note: 'look' },
  },
  'POST /v1/projects/{slug}/files/move': {
    action: 'file.update',
    body: { file_slugs: ['old.png'], folder: 'a' },
  },
  'POST /v1/projects/{slug}/libraries': {
    action: 'library.create',
    body: { slug: 'press', name: 'Press', allowed_origins: [ORIGIN] },
  },
  'PATCH /v1/projects/{slug}/libraries/{lib}': {
    action: 'library.update',
    path: () => `/v1/projects/${slug}/libraries/press`,
    body: { name: 'Newsroom' },
  },
  'POST /v1/projects/{slug}/library-sessions': {
    action: 'library_session.mint',
    body: usualInput,
    caller: (...sent) => api.withKey(keys.mints)(...sent),
  },
  'POST /v1/projects/{slug}/library-sessions/revoke': { action: 'library_session.revoke' },
  'DELETE /v1/projects/{slug}/libraries/{lib}': {
    action: 'library.delete',
    path: () => `/v1/projects/${slug}/libraries/press`,
  },
  'DELETE /v1/projects/{slug}/files/{fileSlug}': {
    action: 'file.delete',
    path: () => `/v1/projects/${slug}/files/old.png`,
  },
};

const staffProject = 'PATCH /v1/staff/projects/{slug}';
/** The same for staff. */
const staffCalls: Record<string, AuditedCall> = {
  'PATCH /v1/staff/organizations/{organization_id}': {
    action: 'organization.update',
    path: () => `/v1/staff/organizations/${organizationId}`,
    body: { billing_exempt: true },
    caller: staff,
  },
  [staffProject]: {
    action: 'project.update',
    body: { custom_domains: ['img.audited.example'], nudity_auto_block: true },
    caller: staff,
  },
  'POST /v1/staff/files/{fileId}/block': {
    action: 'file.block',
    path: () => `/v1/staff/files/${fileId}/block`,
    body: { reason: 'a claim' },
    caller: staff,
  },
  'POST /v1/staff/files/{fileId}/unblock': {
    action: 'file.unblock',
    path: () => `/v1/staff/files/${fileId}/unblock`,
    caller: staff,
  },
  'POST /v1/staff/checks/{id}/review': {
    action: 'check.review',
    path: () => `/v1/staff/checks/${checkId}/review`,
    body: { decision: 'approved' },
    caller: staff,
  },
  'POST /v1/staff/incidents': {
    action: 'incident.create',
    body: { title: 'Slow', services: ['render'], severity: 'minor', body: 'It is slow.' },
    caller: staff,
  },
  'PATCH /v1/staff/incidents/{id}': {
    action: 'incident.update',
    path: () => `/v1/staff/incidents/${incidentId}`,
    body: { body: 'It is fast again.' },
    caller: staff,
  },
};
const allCalls = { ...customerCalls, ...staffCalls };

/** Not audited by the API: uploads (the worker audits what it publishes), and public calls. */
const ofUploads = ({ path }: Endpoint) =>
  path.includes('/uploads') || path.includes('storage-events') || path.includes('/v1/public/');

/** Billing endpoints are audited, too, but their tests need a payment provider. */
const ofBilling = ({ path }: Endpoint) => path.startsWith('/v1/billing/');

const writes = endpoints
  .filter(({ method }) => method !== 'GET')
  .filter((each) => !ofUploads(each) && !ofBilling(each));
const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`;

const callerOf = (caller: Caller) => (caller === staff ? STAFF_SUBJECT : subject);

/** The contents of the database, by table, without the counters of the rate limits. */
async function everything(): Promise<Record<string, string>> {
  const tables = await api.db.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('rate_windows')`,
  );
  const contents = tables.map(async ({ name }) => {
    const [row] = await api.db.query<{ text: string }>(
      `select coalesce(string_agg(t::text, E'\\n' order by t::text), '') as text from ${name} t`,
    );
    return [name, row?.text ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(contents));
}

const audited = (request_id: unknown) =>
  api.db.query<{ action: string; actor_id: string }>(
    'select action, actor_id from audit_log where request_id = $1 order by audit_id',
    [request_id],
  );

describe('the audit log', { shuffle: false }, () => {
  describe('every write endpoint', () => {
    it('is covered by this test', () => {
      expect(writes.map(nameOf).toSorted()).toEqual(Object.keys(allCalls).toSorted());
    });
  });

  describe.each(Object.entries(allCalls))('%s', (name, { action, path, body, caller = owner }) => {
    const [method = '', template = ''] = name.split(' ');
    const call = () => {
      const usual = template.replace('{slug}', slug).replace('{fileSlug}', 'logo.png');
      return caller(method, path?.() ?? usual, body);
    };

    it('commits the change together with its audit entry, or neither if the transaction is killed', async () => {
      const before = await everything();
      await api.db.query(
        'create trigger end_writers before insert on audit_log for each row execute function end_writer()',
      );
      const killed = await call().finally(() =>
        api.db.query('drop trigger end_writers on audit_log'),
      );
      expect(codeOf(killed)).toBe('503 storage_unavailable');
      expect(await everything()).toEqual(before);
      const done = await call();
      expect(done.status, done.text).toBeLessThan(300);
      const by = action === 'library_session.mint' ? mintingKeyId : callerOf(caller);
      expect(await audited(done.headers['x-request-id'])).toEqual([{ action, actor_id: by }]);
    });
  });
});

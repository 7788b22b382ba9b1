// Dashboard writes repeated with the same Idempotency-Key: one effect, and the secret is shown again. Writes that end
// library sessions end them with the commit.
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import type { Database } from '../../../../runtime/db/client.ts';
import {
  type Answer,
  codeOf,
  createProject,
  newSubject,
  signatureOf,
} from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { libraryProject, usualInput, withToken } from '../../../support/library-sessions.ts';
import { waitPatiently } from '../../../support/patient-database.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;
let keyId: string;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}`;
  keyId = (await owner('POST', `${path}/keys`, { name: 'server' })).body.id;
});

type Write = { name: string; target: () => string; body?: unknown; by?: string; operation: string };
const writes: Write[] = [
  {
    name: 'creating an API key',
    target: () => `${path}/keys`,
    body: { name: 'second' },
    operation: 'api_key.create',
  },
  {
    name: 'rotating an API key',
    target: () => `${path}/keys/${keyId}/rotate`,
    operation: 'api_key.rotate',
  },
  {
    name: 'revoking an API key',
    target: () => `${path}/keys/${keyId}/revoke`,
    operation: 'api_key.revoke',
  },
  {
    name: 'rotating the signing key',
    target: () => `${path}/signing-keys/rotate`,
    operation: 'signing_key.rotate',
  },
  {
    name: 'creating an organization as staff',
    target: () => '/v1/organizations',
    body: { name: 'Acme' },
    by: STAFF_SUBJECT,
    operation: 'organization.create',
  },
];

async function send({ target, body, by = subject }: Write, key: string): Promise<Answer> {
  const raw = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    ...(await api.sessionHeaders(by)),
    ...signatureOf('POST', target(), raw),
    'idempotency-key': key,
  };
  return api.send({ method: 'POST', path: target(), raw, headers });
}

const countActions = async (operation: string) =>
  (await api.db.query('select 1 from audit_log where action = $1', [operation])).length;

describe.each(writes)('$name with an Idempotency-Key', (write) => {
  it('takes effect once for concurrent and repeated requests, with the same response', async () => {
    waitPatiently(api);
    // The first login creates an organization, and its audit entry must not be counted.
    await api.session(STAFF_SUBJECT)('GET', '/v1/me');
    const [before, key] = [await countActions(write.operation), randomUUID()];
    const together = await Promise.all(Array.from({ length: 8 }, () => send(write, key)));
    const done = together.filter(({ status }) => status < 300);
    const busy = together.filter(({ status }) => status >= 300);
    expect(new Set(busy.map(codeOf))).toEqual(
      new Set(busy.length === 0 ? [] : ['409 idempotency_in_progress']),
    );
    const again = await send(write, key);
    for (const each of done) expect([each.status, each.body]).toEqual([again.status, again.body]);
    expect(again.status).toBeLessThan(300);
    expect(await countActions(write.operation)).toBe(before + 1);
  });
});

/** Runs `interrupt` between the last statement of each transaction and its commit. */
function beforeCommit(interrupt: () => Promise<unknown>): Database {
  const transaction: Database['transaction'] = (work, options) =>
    api.db.transaction(async (tx) => {
      const result = await work(tx);
      await interrupt();
      return result;
    }, options);
  return { ...api.db, transaction };
}

describe.each([
  ['revoking them', () => `${path}/library-sessions/revoke`, 'session_revoked'],
  ['revoking their key', () => `${path}/keys/${keyId}/revoke`, 'minting_key_revoked'],
  ['rotating their key', () => `${path}/keys/${keyId}/rotate`, 'minting_key_revoked'],
])('ending library sessions by %s', (name, target, code) => {
  it.each([undefined, new Error('the connection broke off')])(
    'takes effect with the commit, even if they were used just before it (connection error: %s)',
    async (failure) => {
      const shop = await libraryProject(api, owner);
      path = shop.path;
      const made = await owner('POST', `${path}/keys`, { name: 'mints' });
      keyId = made.body.id;
      const mints = api.withKey(made.body.plaintext_secret);
      const { body } = await mints('POST', `${path}/library-sessions`, usualInput);
      const list = () => withToken(api, body.token)('GET', '/v1/library/files');
      const before: Answer[] = [];
      const db = beforeCommit(async () => before.push(await list()));
      const lost: Database['transaction'] = async (work, options) => {
        const result = await db.transaction(work, options);
        if (failure !== undefined) throw failure;
        return result;
      };
      api.change({ db: { ...db, transaction: lost } });
      const ended = await send({ name, target, operation: '' }, randomUUID());
      expect([ended.status, codeOf(await list())]).toEqual([failure ? 500 : 200, `401 ${code}`]);
      expect(before.map(codeOf)).toEqual(['200']);
    },
  );
});

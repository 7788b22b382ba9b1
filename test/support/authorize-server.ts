// A real HTTP server that answers every request with the verdict of `authorize`, so that tests see headers and bodies
// as Node delivers them. It uses a real key set and a real database.
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type AuthDeps, authorize } from '../../runtime/api/auth/authorize.ts';
import { createSessionFacts } from '../../runtime/api/auth/library-session.ts';
import type { SignedCall } from '../../runtime/api/auth/presented-credential.ts';
import type { Credential } from '../../runtime/api/auth/principal.ts';
import { ServiceError } from '../../runtime/core/errors.ts';
import { newId } from '../../runtime/core/ids.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import { newApiKey } from '../../runtime/core/signing/api-key.ts';
import { signRequest } from '../../runtime/core/signing/request-signature.ts';
import type { Database } from '../../runtime/db/client.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createIdentity } from '../../runtime/platform/identity.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { closeHttp } from './close-http.ts';
import { useDatabase } from './database.ts';
import { makeSigningPair, startKeySetServer } from './key-set-server.ts';

export const STAFF_SUBJECT = 'user_staff';
const ISSUER = 'https://login.example/client_1';
const REQUEST_SIGNING_SECRET = 'admin-signing-secret';

export type Sent = {
  method?: string;
  path?: string;
  body?: string;
  headers?: Record<string, string | string[]>;
};

/** `code` is `ok`, or the status and code of the rejection. */
export type Verdict = { code: string; principal?: Record<string, unknown> };

/** Call it once per test file. `state` is reset for each test, and tests may change it. */
export function useAuthorizeServer() {
  const { db } = useDatabase();
  const state = {
    allowed: [] as readonly Credential[],
    deps: {} as Partial<AuthDeps>,
    baseUrl: '',
  };
  const provider = useProvider();
  let server: Server;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const body = await readAll(request);
      const pathname = url.split('?')[0] ?? '';
      const call = { request_id: 'authorize-server', method, headers, pathname, body };
      const deps = { ...usualDeps(db, provider.url()), ...state.deps };
      response.end(JSON.stringify(await answerTo(deps, state.allowed, call)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    state.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => closeHttp(server));
  beforeEach(() => {
    Object.assign(state, { allowed: ['dash'], deps: {} });
  });
  const send = (sent: Sent) => sendOver(state.baseUrl, sent);
  return {
    db,
    state,
    send,
    codeOf: async (sent: Sent) => (await send(sent)).code,
    sessionHeaders: provider.sessionHeaders,
    makeKey: (facts: KeyFacts = {}) => makeKey(db, facts),
    countAccounts: async () => (await db.query('select 1 from organizations')).length,
  };
}

export const byBearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
export const byHeader = (token: string) => ({ headers: { 'x-api-key': token } });

/** An identity whose key set cannot be fetched. */
export function identityInOutage() {
  return createIdentity({ issuer: ISSUER, jwksUrl: 'http://127.0.0.1:1/', clock: systemClock });
}

export function signatureOf({ method = 'GET', path = '/v1/projects', body = '' }: Sent) {
  const signed = { method, pathname: path.split('?')[0] ?? '', body: Buffer.from(body) };
  return { 'x-request-signature': signRequest(REQUEST_SIGNING_SECRET, signed) };
}

function useProvider() {
  let keySet: Awaited<ReturnType<typeof startKeySetServer>>;
  let pair: Awaited<ReturnType<typeof makeSigningPair>>;
  beforeAll(async () => {
    [keySet, pair] = await Promise.all([startKeySetServer(), makeSigningPair('key-1')]);
    keySet.state.keys = [pair.jwk];
  });
  afterAll(() => keySet.close());
  return {
    url: () => keySet.url,
    sessionHeaders: async (sub: string) => {
      const exp = Math.floor(Date.now() / 1000) + 300;
      const token = await pair.sign({ iss: ISSUER, sub, exp });
      return { authorization: `Bearer ${token}`, 'x-identity-user-id': sub };
    },
  };
}

function usualDeps(db: Database, jwksUrl: string): AuthDeps {
  return {
    db,
    identity: createIdentity({ issuer: ISSUER, jwksUrl, clock: systemClock }),
    clock: systemClock,
    log: createLog({ level: 'silent', name: 'test' }),
    libraryKeys: { sessions: [] },
    sessionFacts: createSessionFacts(),
    settings: { librarySessions: 'enabled' },
    plans: defaultPlans,
    staff: { is_enabled: true, subjects: [STAFF_SUBJECT] },
    storageEventSecret: undefined,
    providerASecret: undefined,
    providerBSecret: undefined,
    requestSigningSecret: REQUEST_SIGNING_SECRET,
  };
}

async function answerTo(
  deps: AuthDeps,
  allowed: readonly Credential[],
  call: SignedCall,
): Promise<unknown> {
  try {
    return { code: 'ok', principal: await authorize(deps, allowed, call) };
  } catch (error) {
    return {
      code: error instanceof ServiceError ? `${error.status} ${error.code}` : String(error),
    };
  }
}

/** Uses node:http, because fetch would normalize the headers. */
function sendOver(baseUrl: string, sent: Sent): Promise<Verdict> {
  const { method = 'GET', path = '/v1/projects', body = '', headers = {} } = sent;
  return new Promise((resolve, reject) => {
    const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { method, headers: { ...headers, ...length } };
    const request = httpRequest(baseUrl + path, options, (response) => {
      readAll(response)
        .then((bytes) => resolve(JSON.parse(bytes.toString())))
        .catch(reject);
    });
    request.on('error', reject).end(body);
  });
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

type KeyFacts = { scopes?: string[]; status?: string; project?: string };

/** Creates an organization, a project and an API key, and returns the key's secret. */
async function makeKey(db: Database, facts: KeyFacts) {
  const { scopes = null, status = 'active', project = 'active' } = facts;
  const [organizationId, projectId, keyId] = [newId('org', 1), newId('prj', 1), newId('key', 1)];
  const key = newApiKey();
  await db.query(`insert into organizations (organization_id, name) values ($1, 'Shop')`, [
    organizationId,
  ]);
  await db.query(
    `insert into projects (project_id, organization_id, project_slug, name, status, suspended_by)
     values ($1, $2, $3, 'Shop', $4, $5)`,
    [
      projectId,
      organizationId,
      projectId.replace('_', '-'),
      project,
      project === 'suspended' ? 'owner' : null,
    ],
  );
  await db.query(
    `insert into api_keys
       (key_id, project_id, name, scopes, secret_sha256, prefix, last_four, status, revoked_at)
     values ($1, $2, 'server', $3, $4, $5, $6, $7, $8)`,
    [
      keyId,
      projectId,
      scopes,
      key.secret_sha256,
      key.prefix,
      key.last_four,
      status,
      status === 'revoked' ? new Date() : null,
    ],
  );
  return { secret: key.plaintext_secret, keyId, projectId };
}

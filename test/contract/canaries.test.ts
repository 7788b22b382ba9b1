// Sends recognizable secrets and personal data through all processes of a deployment, including its failures. No secret
// may appear in a log, trace, metric, error or row, and no personal data in a log, trace or metric. Spec: Authentication;
// Errors.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OtlpServer, startOtlpServer } from '../support/otlp-server.ts';
import { over, photograph } from '../support/pictures.ts';
import { type FaultProxy, startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { type Canaries, createCanaries, dumpDatabase } from './support/canaries.ts';
import { type Answer, call, deliver, put, type Sent, targetOf } from './support/client.ts';
import {
  type Deployment,
  type Environment,
  PROCESSES,
  type ProcessName,
  startDeployment,
} from './support/deployment.ts';
import { displayHeaders, sendPersonalData, TAKEN_IN_BERLIN } from './support/personal-data.ts';
import { spawnTintype } from './support/tintype.ts';

const canaries: Canaries = createCanaries();
const people: Canaries = createCanaries();
const owner = people.make('subject of an owner');
let filtered: string[];
const refusals: string[] = [];
let collector: OtlpServer;
let deployment: Deployment;
let database: FaultProxy;
let storage: FaultProxy;
let broker: FaultProxy;
let databaseUrl: string;
let photo: Buffer;
let headers: Record<string, string>;
let key: string;

/**
 * Makes every secret a canary, and puts proxies before database, storage and broker so that tests
 * can take them down.
 */
async function withCanaries(usual: Environment): Promise<Environment> {
  databaseUrl = usual['TINTYPE_DATABASE_URL'] ?? '';
  const storageUrl = usual['TINTYPE_S3_ENDPOINT'] ?? '';
  database = await startFaultProxy({ port: Number(new URL(databaseUrl).port) });
  storage = await startFaultProxy({ port: Number(new URL(storageUrl).port) });
  const brokerUrl = usual['TINTYPE_AMQP_URL'] ?? '';
  broker = await startFaultProxy({ port: Number(new URL(brokerUrl).port) });
  const through = (url: string, { port }: FaultProxy) =>
    Object.assign(new URL(url), { port: String(port) }).href.replace(/\/$/, '');
  canaries.note('database password', new URL(databaseUrl).password);
  canaries.note('storage secret', usual['AWS_SECRET_ACCESS_KEY'] ?? '');
  return {
    ...usual,
    TINTYPE_DATABASE_URL: through(databaseUrl, database),
    TINTYPE_S3_ENDPOINT: through(storageUrl, storage),
    TINTYPE_AMQP_URL: through(brokerUrl, broker),
    TINTYPE_REQUEST_SIGNING_SECRET: canaries.make('request signing secret'),
    TINTYPE_STORAGE_EVENT_SECRET: canaries.make('storage event secret'),
    TINTYPE_PROVIDER_A_SECRET: canaries.make('provider A secret'),
    TINTYPE_PROVIDER_B_SECRET: canaries.make('provider B secret'),
    TINTYPE_CDN_TOKEN: canaries.make('CDN token'),
    TINTYPE_KEY_ENCRYPTION_KEYS: canaries.makeKeys('key-encryption keys'),
    TINTYPE_TOKEN_KEYS: canaries.makeKeys('token keys'),
    TINTYPE_LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
}

beforeAll(async () => {
  collector = await startOtlpServer();
  deployment = await startDeployment(withCanaries);
  photo = await over(photograph(900, 600)).jpeg().withExif(TAKEN_IN_BERLIN).toBuffer();
  const token = canaries.note('access token', await deployment.token(owner));
  const user = { 'x-identity-user-id': owner, ...displayHeaders(people) };
  headers = { authorization: `Bearer ${token}`, ...user };
});

afterAll(async () => {
  await deployment?.stop();
  await Promise.all([database, storage, broker, collector].map((each) => each?.close()));
});

function kept(answer: Answer): Answer {
  if (answer.status >= 400) refusals.push(`${answer.status} ${answer.bytes}`);
  return answer;
}
const sent = async (what: Sent) => kept(await call(deployment, what));
const asKey = (method: string, path: string, body?: unknown, more = {}) =>
  sent({ method, path, body, headers: { 'x-api-key': key, ...more } });
const asOwner = async (method: string, path: string, body?: unknown) =>
  kept(await (await deployment.session(owner))(method, path, body));
const listFiltered = () =>
  Promise.all(filtered.map((filter) => asKey('GET', `/v1/projects/shop/files?${filter}`)));

const watch = (name: ProcessName, path: string) =>
  fetch(`http://127.0.0.1:${deployment.processes[name].watch_port}${path}`);

async function makeSecrets(): Promise<void> {
  expect((await sent({ method: 'GET', path: '/v1/me', headers })).status).toBe(200);
  await asOwner('POST', '/v1/projects', {
    project_slug: 'shop',
    delivery_access: 'protected',
  });
  const made = await asOwner('POST', '/v1/projects/shop/keys', { name: 'server' });
  key = canaries.note('API key', made.body.plaintext_secret);
  const changed = await asOwner('PATCH', '/v1/projects/shop', {
    callback_url: 'https://1.1.1.1/hook',
  });
  canaries.note('callback secret', changed.body.callback_secret);
}

async function sendUpload(file_slug: string, sends: 'direct' | 'proxy'): Promise<Answer> {
  const path = '/v1/projects/shop/uploads';
  const input = { content_type: 'image/jpeg', size_bytes: photo.length, file_slug, mode: sends };
  const more = { 'idempotency-key': `upload-of-${file_slug}` };
  const created = await asKey('POST', path, input, more);
  const way = created.body[sends];
  const signature = new URL(way.put_url).searchParams;
  for (const name of ['X-Amz-Signature', 'X-Amz-Credential', 'sig', 'token']) {
    const value = signature.get(name);
    if (value !== null) canaries.note(`${name} of an upload`, value);
  }
  const as = { 'content-type': 'image/jpeg', ...way.headers };
  // Responses of the storage itself are not ours.
  const keep = sends === 'proxy' ? kept : (answer: Answer) => answer;
  const url = way.put_url.replace('http://api.test', deployment.instance.api_url);
  keep(await put(`${url}0`, as, photo));
  keep(await put(url, as, photo));
  return asKey('POST', `${path}/${created.body.upload_id}/complete`);
}

describe('a deployment with known secrets', { shuffle: false }, () => {
  it('uploads and delivers an image, and rotates its signing key and callback secret', async () => {
    await makeSecrets();
    await sendUpload('direct.jpg', 'direct');
    const completed = await sendUpload('proxy.jpg', 'proxy');
    expect(completed.status).toBe(200);
    const { upload_id } = completed.body;
    const path = `/v1/projects/shop/uploads/${upload_id}`;
    await expect
      .poll(async () => (await asKey('GET', path)).body.status, { timeout: 30_000 })
      .toBe('ready');
    const minted = await asOwner('POST', '/v1/projects/shop/signed-url', {
      kind: 'originals',
      file_slug: 'proxy.jpg',
      expires_in_seconds: 600,
    });
    const target = targetOf(minted.body.url);
    const sig = new URL(minted.body.url).searchParams.get('sig') ?? '';
    canaries.note('sig of a delivery', sig);
    const got = await deliver(deployment, { project: 'shop', path: target });
    expect(got.status).toBe(200);
    kept(await deliver(deployment, { project: 'shop', path: target.replace('kid=', 'kid=x') }));
    await asOwner('POST', '/v1/projects/shop/signing-keys/rotate');
    const rotated = await asOwner('PATCH', '/v1/projects/shop', { rotate_callback_secret: true });
    canaries.note('rotated callback secret', rotated.body.callback_secret);
  });

  it('takes personal data, and lists files by it', async () => {
    const send = (of: Sent) => sent({ ...of, headers: { ...headers, ...of.headers } });
    filtered = await sendPersonalData({ people, canaries, send, asKey });
    for (const { status, body } of await listFiltered()) {
      expect([status, body.items.length]).toEqual([200, expect.any(Number)]);
    }
    expect(people.count()).toBeGreaterThan(12);
  });

  it('rejects requests with secrets that are invalid or in the wrong place', async () => {
    const typed = canaries.make('what was typed in the wrong place');
    const authorization = { authorization: `Bearer ${headers['authorization']?.slice(7, -6)}` };
    const path = '/v1/projects/shop';
    for (const wrong of [
      { headers: authorization },
      { headers: { authorization: `Bearer ${typed}` } },
      { headers: { authorization: `Basic ${typed}` } },
      { headers: { 'x-api-key': `${key}0` } },
      { headers: { 'x-api-key': `tin_live_${typed}` } },
      { path: `${path}?api_key=${key}&token=${typed}` },
      { method: 'PATCH', headers, body: { name: 'unsigned' } },
      { method: 'PATCH', headers: { ...headers, 'x-request-signature': typed }, body: {} },
      {
        method: 'POST',
        path: '/v1/internal/storage-events',
        headers: { 'x-signature': typed },
        body: {},
      },
    ]) {
      expect((await sent({ method: 'GET', path, ...wrong })).status).toBeGreaterThan(399);
    }
    const raw = Buffer.from(`{"callback_url":"https://user:${typed}@example.com/","x":`);
    await sent({ method: 'POST', path: `${path}/recipes`, headers: { 'x-api-key': key }, raw });
    await asKey('POST', `${path}/uploads`, { content_type: typed }, { 'idempotency-key': typed });
  });

  it('stays live while storage or database is unavailable, and logs a CDN that refuses a purge', async () => {
    const uploads = '/v1/projects/shop/uploads';
    const input = { content_type: 'image/jpeg', size_bytes: photo.length, file_slug: 'late.jpg' };
    const created = await asKey('POST', uploads, input);
    storage.set({ kind: 'refuse' });
    storage.cut();
    await asKey('POST', `${uploads}/${created.body.upload_id}/complete`);
    // An API without buckets still serves everything else, and its readiness probe still succeeds.
    expect((await asKey('GET', '/v1/projects/shop/files')).status).toBe(200);
    const withoutBuckets = '/readyz?exclude=ingest&exclude=content';
    expect((await watch('api', withoutBuckets)).status).toBe(200);
    expect((await watch('api', '/readyz')).status).toBe(503);
    storage.set({ kind: 'none' });
    database.set({ kind: 'refuse' });
    database.cut();
    // Equal failures are logged once a minute, so the first one is a request with personal data.
    for (const { status } of await listFiltered()) expect(status).toBe(503);
    expect((await asKey('GET', '/v1/projects/shop')).status).toBe(503);
    expect((await sent({ method: 'GET', path: '/readyz' })).status).toBe(503);
    for (const name of PROCESSES) {
      const reported = await Promise.all(['/livez', '/readyz'].map((path) => watch(name, path)));
      expect([name, ...reported.map(({ status }) => status)]).toEqual([name, 200, 503]);
      const checks = { database: false, ingest: true, content: true };
      expect(await reported[1]?.json()).toEqual({ ready: false, checks });
    }
    database.set({ kind: 'none' });
    deployment.cdn.answer(() => ({ status: 401, body: 'who are you' }));
    const gone = () => asKey('DELETE', '/v1/projects/shop/files/proxy.jpg');
    await expect.poll(async () => (await gone()).status).toBe(204);
    const { lines } = deployment.processes.dispatcher;
    const reported = () => lines.some((line) => line.includes('401'));
    await expect.poll(reported).toBe(true);
    broker.set({ kind: 'refuse' });
    broker.cut();
    await sendUpload('unheard.jpg', 'direct');
  });

  it('leaves no secret or personal data in its logs, traces and metrics, and no secret in error responses and rows', async () => {
    expect(canaries.count()).toBeGreaterThan(14);
    const { processes } = deployment;
    for (const name of PROCESSES) {
      const { lines } = processes[name];
      const metrics = await (await watch(name, '/metrics')).text();
      for (const text of [lines.join('\n'), metrics]) {
        expect([name, ...canaries.foundIn(text), ...people.foundIn(text)]).toEqual([name]);
      }
    }
    expect(processes.api.lines.length).toBeGreaterThan(20);
    expect(refusals.length).toBeGreaterThan(10);
    expect(canaries.foundIn(refusals.join('\n'))).toEqual([]);
    expect(collector.spans.length).toBeGreaterThan(50);
    const traces = collector.bodies.join('\n');
    expect([...canaries.foundIn(traces), ...people.foundIn(traces)]).toEqual([]);
    const rows = await dumpDatabase(databaseUrl);
    expect(people.foundIn(rows).length).toBeGreaterThan(10);
    expect(canaries.foundIn(rows)).toEqual([]);
  });
});

it('the search finds a secret in plain text, hex and base64', () => {
  const some = createCanaries();
  const secret = some.make('secret/of?mine');
  const keys = some.makeKeys('keys');
  const bytes = Buffer.from(secret);
  for (const text of [secret, bytes.toString('hex'), bytes.toString('base64')])
    expect(some.foundIn(`{"msg":"x${text}y"}`)).toEqual(['secret/of?mine']);
  const key = Buffer.from(keys.slice(3), 'base64');
  expect(some.foundIn(`${keys} ${key.toString('hex')}`)).toEqual(['keys']);
  expect(some.foundIn('nothing')).toEqual([]);
});

describe('a process that cannot start', () => {
  it.each([
    ['TINTYPE_AMQP_URL', (secret: string) => `amqp://guest:${secret}@127.0.0.1:1`],
    ['TINTYPE_DATABASE_URL', (secret: string) => `postgres://tintype:${secret}@127.0.0.1:1/x`],
    ['TINTYPE_KEY_ENCRYPTION_KEYS', (secret: string) => `k1:${secret}`],
    ['TINTYPE_TOKEN_KEYS', (secret: string) => secret],
  ])('prints an error without the secret when %s is wrong', async (name, printed) => {
    const secret = canaries.make(`of ${name}`);
    const env = { ...deployment.env, [name]: printed(secret) };
    const said = await readUntilEnded(spawnTintype(['api'], { env }));
    expect(said).not.toBe('');
    expect(canaries.foundIn(said)).toEqual([]);
  });
});

/**
 * A process that waits for a server never ends, so it is terminated as soon as it has logged that
 * it waits.
 */
async function readUntilEnded(child: ReturnType<typeof spawnTintype>): Promise<string> {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk;
      if (said.includes('waits for it')) child.kill('SIGTERM');
    });
  }
  await once(child, 'close');
  return said;
}

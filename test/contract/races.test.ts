/**
 * Concurrent calls to two API processes: for every name and limit exactly one caller wins, and confirmed results last.
 * Processes that stop while their clients are busy give every accepted request its response, and behind a load balancer
 * a rolling restart goes unnoticed.
 * Spec: Projects; API keys; Signing keys and signed URLs; Uploads; Watermark presets; Recipes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { type BusyClients, startBusyClients } from './support/busy-clients.ts';
import {
  type Answer,
  type Caller,
  codeOf,
  deliver,
  put,
  targetOf,
  withHeaders,
  withKey,
} from './support/client.ts';
import {
  type DeployedProcess,
  type Deployment,
  startDeployment,
  startProcess,
} from './support/deployment.ts';
import { startRoundRobin } from './support/round-robin.ts';
import { sendUpload, upload, waitUntilEnded } from './support/upload.ts';

const CALLS = 50;
const CLIENTS = 50;
const KEYS_MAX = 100;
const ROUNDS = 6;
const TEST_MS_MAX = 300_000;

let deployment: Deployment;
let second: DeployedProcess;
/** The same user at each of the two processes. */
let owners: Caller[];
let owner: Caller;
let picture: Buffer;

beforeAll(async () => {
  deployment = await startDeployment((usual) => ({ ...usual, TINTYPE_RATE_WRITES: '1000000' }));
  second = await startProcess('api', deployment.env);
  const instance = { ...deployment.instance, api_url: `http://127.0.0.1:${second.port}` };
  owner = await deployment.session('alice');
  const authorization = `Bearer ${await deployment.token('alice')}`;
  owners = [owner, withHeaders({ instance }, { authorization, 'x-identity-user-id': 'alice' })];
  picture = await over(photograph(64, 48)).png().toBuffer();
}, TEST_MS_MAX);

afterAll(async () => {
  await second?.end('SIGKILL');
  await deployment?.stop();
});

/** Makes concurrent calls, alternating between the processes. */
function atOnce<T>(count: number, call: (caller: Caller, n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => call(callerOf(n), n)));
}

const callerOf = (n: number): Caller => owners[n % owners.length] ?? owner;

async function newProject(project_slug: string, settings: object = {}): Promise<string> {
  const made = await owner('POST', '/v1/projects', { project_slug, ...settings });
  expect(codeOf(made)).toBe('201');
  return `/v1/projects/${project_slug}`;
}

const png = (file_slug: string) => ({ bytes: picture, content_type: 'image/png', file_slug });

async function withFile(project_slug: string, file_slug: string, settings: object = {}) {
  const path = await newProject(project_slug, settings);
  const { status } = await upload(owner, project_slug, png(file_slug));
  expect(status).toBe('ready');
  return path;
}

const oneWinner = (won: string, lost: string) => [won, ...Array(CALLS - 1).fill(lost)];
const codesOf = (answers: Answer[]) => answers.map(codeOf).toSorted();

describe('50 concurrent calls for one name at two API processes', () => {
  it('create only one project with that slug', async () => {
    const body = { project_slug: 'raced' };
    const answers = await atOnce(CALLS, (caller) => caller('POST', '/v1/projects', body));
    expect(codesOf(answers)).toEqual(oneWinner('201', '409 project_exists'));
    const keys = await owner('GET', '/v1/projects/raced/signing-keys');
    expect(keys.body.items).toHaveLength(1);
  });

  it('create only one recipe with that name', async () => {
    const path = await newProject('recipes');
    const body = { name: 'small', transform_chain: 'resize/10x10' };
    const answers = await atOnce(CALLS, (caller) => caller('PUT', `${path}/recipes`, body));
    expect(codesOf(answers)).toEqual(oneWinner('201', '409 recipe_name_taken'));
    expect((await owner('GET', `${path}/recipes`)).body.items).toHaveLength(1);
  });

  it('create only one watermark preset with that name', async () => {
    const path = `${await withFile('presets', 'logo.png')}/watermark-presets`;
    const answers = await atOnce(CALLS, (caller) => caller('PUT', path, corner('corner')));
    expect(codesOf(answers)).toEqual(oneWinner('201', '409 watermark_preset_name_taken'));
    expect((await owner('GET', path)).body.items).toHaveLength(1);
  });
});

const corner = (name: string) => ({ name, file_slug: 'logo.png', x_offset: -8, y_offset: -8 });

describe('concurrent calls at two API processes', () => {
  it('create exactly 100 active API keys in 120 calls', { timeout: TEST_MS_MAX }, async () => {
    const path = `${await newProject('keys')}/keys`;
    const answers = await atOnce(KEYS_MAX + 20, (caller) => caller('POST', path, { name: 'k' }));
    const made = Array(KEYS_MAX).fill('201');
    expect(codesOf(answers)).toEqual([...made, ...Array(20).fill('409 api_key_quota_exceeded')]);
    const won = answers.filter(({ status }) => status === 201);
    expect(new Set(won.map(({ body }) => body.plaintext_secret)).size).toBe(KEYS_MAX);
  });

  it('mint only valid URLs while signing keys are rotated', async () => {
    const path = await withFile('rotating', 'a.png', { delivery_access: 'protected' });
    const input = { file_slug: 'a.png', transform_chain: 'resize/20x20' };
    const [minted, rotated] = await Promise.all([
      atOnce(30, (caller) => caller('POST', `${path}/signed-url`, input)),
      atOnce(10, (caller) => caller('POST', `${path}/signing-keys/rotate`)),
    ]);
    expect(codesOf([...minted, ...rotated])).toEqual(Array(40).fill('200'));
    const viewed = await Promise.all(
      minted.map(({ body }) =>
        deliver(deployment, { project: 'rotating', path: targetOf(body.url) }),
      ),
    );
    expect(codesOf(viewed)).toEqual(Array(30).fill('200'));
    const { items } = (await owner('GET', `${path}/signing-keys`)).body;
    const active = items.filter(({ status }: { status: string }) => status === 'active');
    expect(active).toHaveLength(1);
  });

  it('never delete a watermark preset that becomes the default', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const path = await withFile('defaults', 'logo.png');
    for (let round = 0; round < ROUNDS; round += 1) {
      const made = await owner('PUT', `${path}/watermark-presets`, corner(`round-${round}`));
      const { id } = made.body;
      const [set, gone] = await Promise.all([
        callerOf(round)('PATCH', path, { default_watermark_preset_id: id }),
        callerOf(round + 1)('DELETE', `${path}/watermark-presets/${id}`),
      ]);
      const { default_watermark_preset_id } = (await owner('GET', path)).body;
      const outcome = [codeOf(set), codeOf(gone), default_watermark_preset_id];
      expect([
        ['200', '409 default_watermark_in_use', id],
        ['400 invalid_request', '204', null],
      ]).toContainEqual(outcome);
      await owner('PATCH', path, { default_watermark_preset_id: null });
    }
  });
});

describe('suspending a project', { timeout: TEST_MS_MAX }, () => {
  /** Creates an upload and sends its bytes, but does not complete it. Returns its path. */
  async function sent(path: string, n: number): Promise<string> {
    const { content_type, bytes } = png('');
    const input = { content_type, size_bytes: bytes.length, file_slug: `file-${n}.png` };
    const { body } = await owner('POST', `${path}/uploads`, input);
    await put(body.direct.put_url, body.direct.headers, bytes);
    return `${path}/uploads/${body.upload_id}`;
  }

  it('blocks uploads once it is confirmed; rejected completions succeed after reactivation', async () => {
    const path = await newProject('suspended');
    const sessions = await Promise.all(Array.from({ length: 16 }, (_, n) => sent(path, n)));
    const input = { content_type: 'image/png', size_bytes: picture.length };
    const begin = (caller: Caller) => caller('POST', `${path}/uploads`, input);
    const complete = (caller: Caller, at: string) => caller('POST', `${at}/complete`);
    const [early, later] = [sessions.slice(0, 8), sessions.slice(8)];
    const [suspended, ...beside] = await Promise.all([
      owner('PATCH', path, { status: 'suspended' }),
      ...early.map((at, n) => complete(callerOf(n), at)),
      ...early.map((_, n) => begin(callerOf(n))),
    ]);
    expect(codeOf(suspended)).toBe('200');
    expect(['200', '201', '403 project_suspended']).toEqual(
      expect.arrayContaining([...new Set(beside.map(codeOf))]),
    );
    const after = await Promise.all([
      ...later.map((at, n) => complete(callerOf(n), at)),
      ...later.map((_, n) => begin(callerOf(n))),
    ]);
    expect(codesOf(after)).toEqual(Array(16).fill('403 project_suspended'));

    await owner('PATCH', path, { status: 'active' });
    const accepted = beside.slice(0, early.length).map(({ status }) => status === 200);
    for (const [n, at] of sessions.entries()) {
      const { status } = (await owner('GET', at)).body;
      if (accepted[n] !== true) expect(status).toBe('created');
      expect(codeOf(await complete(owner, at))).toBe('200');
      expect((await waitUntilEnded(owner, 'suspended', at.split('/').at(-1) ?? '')).status).toBe(
        'ready',
      );
    }
    const { storage } = (await owner('GET', `${path}/usage`)).body;
    expect(storage.file_count).toBe(sessions.length);
    const begun = beside.slice(early.length).filter(({ status }) => status === 201);
    const { items } = (await owner('GET', `${path}/uploads?limit=100`)).body;
    expect(items).toHaveLength(sessions.length + begun.length);
  });
});

describe('deleting a file during an upload of a new revision', { timeout: TEST_MS_MAX }, () => {
  it('leaves the file either present or deleted, counted correctly, and accepts the next upload', async () => {
    const path = await newProject('again');
    const secret = (await owner('POST', `${path}/keys`, { name: 'server' })).body.plaintext_secret;
    const key = withKey(deployment, secret);
    let count = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      // A new name for each round, because delivery caches its lookups.
      const file = png(`round-${round}.png`);
      const at = `${path}/files/${file.file_slug}`;
      await upload(key, 'again', file);
      const { body } = await sendUpload(key, 'again', file);
      const [ended, ...deleted] = await Promise.all([
        waitUntilEnded(key, 'again', body.upload_id),
        ...owners.map((caller) => caller('DELETE', at)),
      ]);
      expect([ended.status, ...deleted.map(codeOf)]).toEqual(['ready', '204', '204']);
      const found = await key('GET', at);
      expect(['200', '404 file_not_found']).toContain(codeOf(found));
      count += found.status === 200 ? 1 : 0;
      expect((await owner('GET', `${path}/usage`)).body.storage.file_count).toBe(count);
      const original = `/originals/f/${file.file_slug}`;
      const view = await deliver(deployment, { project: 'again', path: original });
      expect(view.status).toBe(found.status);
    }
    expect((await upload(key, 'again', png('round-0.png'))).status).toBe('ready');
    expect(codeOf(await key('GET', `${path}/files/round-0.png`))).toBe('200');
  });
});

describe('clients that send requests without pause', () => {
  let key: string;
  beforeAll(async () => {
    const keys = `${await newProject('restarted')}/keys`;
    key = (await owner('POST', keys, { name: 'server' })).body.plaintext_secret;
  });

  const newUpload = JSON.stringify({ content_type: 'image/png', size_bytes: 1 });
  /** Every fifth request is a write, which HTTP clients do not retry automatically. */
  const next = (nth: number) =>
    nth % 5 === 0
      ? { method: 'POST', path: '/v1/projects/restarted/uploads', body: newUpload }
      : { method: 'GET', path: '/v1/projects/restarted' };

  const busy = (url: string) =>
    startBusyClients({ url, clients: CLIENTS, headers: { 'x-api-key': key }, next });

  /** Waits until the clients have got this many more responses. */
  async function untilAnswered(clients: BusyClients, more: number): Promise<void> {
    const enough = clients.count() + more;
    await expect.poll(() => clients.count(), { timeout: 60_000 }).toBeGreaterThan(enough);
  }

  const another = () => startProcess('api', deployment.env);

  describe('an API process that stops', { timeout: 300_000 }, () => {
    it('answers every accepted request, without broken connections or 5xx responses', async () => {
      const api = await another();
      const clients = busy(`http://127.0.0.1:${api.port}`);
      await untilAnswered(clients, 300);
      const code = api.end('SIGTERM');
      await clients.ended;
      expect(await code).toBe(0);
      // After the API has stopped, each client's next request is refused, so no response was lost.
      expect([...clients.seen.keys()].toSorted()).toEqual(['200', '201', 'ECONNREFUSED']);
      expect(clients.seen.get('ECONNREFUSED')).toBe(CLIENTS);
    });
  });

  describe('two API processes behind a load balancer', { timeout: 300_000 }, () => {
    it('are replaced one after the other without a failed request', async () => {
      const old = [await another(), await another()];
      // Started before the load, because a start on a busy machine takes long and proves nothing.
      const fresh = [await another(), await another()];
      const balancer = await startRoundRobin(old.map(({ port = 0 }) => port));
      const clients = busy(balancer.url);
      for (const [at, api] of old.entries()) {
        await untilAnswered(clients, 200);
        balancer.ports.add(fresh[at]?.port ?? 0);
        expect(await api.end('SIGTERM')).toBe(0);
        balancer.ports.delete(api.port ?? 0);
      }
      await untilAnswered(clients, 200);
      clients.stop();
      await clients.ended;
      await Promise.all(fresh.map((api) => api.end('SIGTERM')));
      await balancer.close();
      expect([[...clients.seen.keys()].toSorted(), balancer.failures]).toEqual([
        ['200', '201'],
        [],
      ]);
    });
  });
});

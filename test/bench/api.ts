/**
 * The latency of 200 mixed, open-loop calls per second at one API process, in a project with a million files. A bare
 * node:http server in the same run, with the same load and response sizes, is the baseline.
 * TINTYPE_BENCH_API_FILES changes the number of files.
 */
import { spawn } from 'node:child_process';
import { Agent, request as sendRequest } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../../runtime/db/client.ts';
import { withKey, withSession } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { makeManyFiles } from '../support/many-files.ts';
import { makeFile } from '../support/rows.ts';
import { type Figure, figure, percentile } from './figure.ts';
import { measureTree } from './process-tree.ts';

const FILES = Number(process.env['TINTYPE_BENCH_API_FILES'] ?? 1_000_000);
const CALLS_A_SECOND = 200;
const WARMING_MS = 5_000;
const SPAN_MS = 40_000;
const ECHO_MS = 10_000;
/** Several projects, because each may mint only 60 URLs per minute. */
const MINTING_PROJECTS = 60;
const UPLOADS = 200;
const FILL_MS = 3_600_000;

type Sent = { method: string; path: string; key: string; body?: object };
/** `share` is the number of calls in every 20. */
type Kind = { name: string; share: number; sent(at: number): Sent };
type Seen = { kind: string; status: number; ms: number; bytes: number };

export async function measureApi(tintype: Tintype): Promise<Figure[]> {
  const kinds = await prepare(tintype);
  const echo = await startEcho();
  const agent = new Agent({ keepAlive: true });
  const { api_url } = tintype.instance;
  const ask = (kind: Kind, at: number) => send(agent, { kind, url: api_url, ...kind.sent(at) });
  const warm = await load(kinds, { ask, spanMs: WARMING_MS });
  const sizes = new Map(warm.map(({ kind, bytes }) => [kind, bytes]));
  const askEcho = (kind: Kind, at: number) => {
    const path = `/${sizes.get(kind.name) ?? 0}`;
    return send(agent, { kind, url: echo.url, ...kind.sent(at), path });
  };
  await load(kinds, { ask: askEcho, spanMs: WARMING_MS });
  const before = await load(kinds, { ask: askEcho, spanMs: ECHO_MS });
  const { pid } = tintype.instance;
  const [cpu, tree] = [process.cpuUsage(), measureTree(pid).cpu_ms];
  const seen = await load(kinds, { ask, spanMs: SPAN_MS });
  const { user, system } = process.cpuUsage(cpu);
  const cpu_ms = measureTree(pid).cpu_ms - tree;
  const after = await load(kinds, { ask: askEcho, spanMs: ECHO_MS });
  agent.destroy();
  echo.end();
  return [
    figure('calls a second', '', [(seen.length * 1000) / SPAN_MS]),
    figure('… CPU of one, database included', 'ms', [cpu_ms / seen.length]),
    figure('… CPU of one in their client', 'ms', [(user + system) / 1000 / seen.length]),
    ...others(seen),
    ...kinds.flatMap(({ name }) =>
      describe(
        name,
        seen.filter(({ kind }) => kind === name),
      ),
    ),
    ...describe('all', seen),
    ...describe('echo of bare node:http', [...before, ...after]),
  ];
}

function others(seen: readonly Seen[]): Figure[] {
  const statuses = [...new Set(seen.map(({ status }) => status))].filter((one) => one !== 200);
  return statuses.map((status) => {
    return figure(`… answered ${status}`, '', [seen.filter((one) => one.status === status).length]);
  });
}

function describe(name: string, seen: readonly Seen[]): Figure[] {
  const ms = seen.map((one) => one.ms);
  return [figure(name, 'ms', ms), figure('… p99', 'ms', [percentile(ms, 0.99)])];
}

/** Inserts the rows that the calls need, and returns the kinds of calls. */
async function prepare(tintype: Tintype): Promise<Kind[]> {
  const { api_key: key, project_slug, database_url } = tintype.instance;
  const path = `/v1/projects/${project_slug}`;
  const call = withKey(tintype, key);
  const { project_id } = (await call('GET', path)).body;
  const limits = { queryTimeoutMs: FILL_MS, idleTransactionTimeoutMs: FILL_MS };
  const db = createDatabase({ url: database_url, ...limits });
  await makeManyFiles(db, { project_id, count: FILES });
  for (let n = 0; n < UPLOADS; n += 1) {
    await makeFile(db, { project_id }, { file_slug: `upload-${n}` });
  }
  const minting = await makeMintingProjects(tintype);
  for (const { project_id } of minting) await makeFile(db, { project_id }, { file_slug: 'a.png' });
  await db.query('checkpoint');
  await db.close();
  const { items } = (await call('GET', `${path}/files?limit=100`)).body;
  const files = items.map(({ file_slug }: { file_slug: string }) => `${path}/files/${file_slug}`);
  const get = (of: string) => ({ method: 'GET', path: of, key });
  const file = (at: number): string => files[at % files.length];
  return [
    { name: 'list files', share: 5, sent: () => get(`${path}/files?limit=50`) },
    { name: 'get a file', share: 5, sent: (at) => get(file(at)) },
    { name: 'mint a signed URL', share: 3, sent: (at) => mint(minting[at % minting.length]) },
    { name: 'list uploads', share: 3, sent: () => get(`${path}/uploads?limit=50`) },
    { name: 'get the project', share: 2, sent: () => get(path) },
    {
      name: 'change a title',
      share: 2,
      sent: (at) => ({ method: 'PATCH', path: file(at), key, body: { title: `Title ${at}` } }),
    },
  ];
}

type Minting = { path: string; key: string; project_id: string };

function mint(project: Minting | undefined): Sent {
  if (project === undefined) throw new Error('no project to mint in');
  const { path, key } = project;
  const body = { file_slug: 'a.png', transform_chain: 'resize/200x200' };
  return { method: 'POST', path: `${path}/signed-url`, key, body };
}

async function makeMintingProjects(tintype: Tintype): Promise<Minting[]> {
  const session = await withSession(tintype, 'bench');
  const made: Minting[] = [];
  for (let n = 0; n < MINTING_PROJECTS; n += 1) {
    const path = `/v1/projects/minting-${n}`;
    const project = await session('POST', '/v1/projects', { project_slug: `minting-${n}` });
    const key = await session('POST', `${path}/keys`, { name: 'bench' });
    const { project_id } = project.body;
    made.push({ path, key: key.body.plaintext_secret, project_id });
  }
  return made;
}

type Load = { ask(kind: Kind, at: number): Promise<Seen>; spanMs: number };

/**
 * Sends each call at its scheduled time, even if earlier ones are unfinished. Interleaves the kinds
 * by their share.
 */
async function load(kinds: readonly Kind[], { ask, spanMs }: Load): Promise<Seen[]> {
  const turns = kinds
    .flatMap((kind) => Array.from({ length: kind.share }, (_, nth) => ({ kind, nth })))
    .toSorted((a, b) => (a.nth + 0.5) / a.kind.share - (b.nth + 0.5) / b.kind.share);
  const asked: Promise<Seen>[] = [];
  const started = performance.now();
  for (let n = 0; n < (CALLS_A_SECOND * spanMs) / 1000; n += 1) {
    const turn = turns[n % turns.length];
    const round = Math.floor(n / turns.length);
    if (turn !== undefined) asked.push(ask(turn.kind, round * turn.kind.share + turn.nth));
    await sleep(Math.max(0, started + ((n + 1) * 1000) / CALLS_A_SECOND - performance.now()));
  }
  return Promise.all(asked);
}

function send(
  agent: Agent,
  { kind, url, method, path, key, body }: Sent & { kind: Kind; url: string },
): Promise<Seen> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sent = bytes && { 'content-type': 'application/json', 'content-length': bytes.length };
  const headers = { 'x-api-key': key, ...sent };
  const started = performance.now();
  return new Promise((resolve, reject) => {
    sendRequest(url, { method, path, agent, headers }, (response) => {
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      response.once('error', reject).once('end', () => {
        const { statusCode: status = 0 } = response;
        resolve({ kind: kind.name, status, ms: performance.now() - started, bytes: length });
      });
    })
      .once('error', reject)
      .end(bytes);
  });
}

async function startEcho(): Promise<{ url: string; end(): void }> {
  const program = join(import.meta.dirname, 'echo-server.ts');
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((said) => {
    createInterface({ input: child.stdout }).once('line', said);
  });
  return { url, end: () => child.kill() };
}

/**
 * The effect on viewers of stored images when new images are requested at twice the rate that can be rendered: the
 * latency of hits, compared with the same hits without overload, and how soon excess requests get a Retry-After. The
 * load generator runs on the same cores, open-loop at a moderate rate.
 */
import { Agent, request as sendRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { type Figure, figure, percentile } from './figure.ts';
import { findPhotographs } from './photographs.ts';

const SLUG = 'overload.jpg';
const HIT = `/resize/400x300/f/${SLUG}`;
const HITS_EVERY_MS = 5;
const SPAN_MS = 10_000;
const CAPACITY_RENDERS = 40;
const OVERLOAD = 2;

type Seen = { status: number; ms: number; retry_after: number };
type Ask = (path: string) => Promise<Seen>;

export async function measureOverload(tintype: Tintype): Promise<Figure[]> {
  const { api_key, project_slug } = tintype.instance;
  const [photograph] = await findPhotographs();
  if (photograph === undefined) throw new Error('no photograph');
  const picture = { bytes: photograph.bytes, content_type: 'image/jpeg', file_slug: SLUG };
  await upload(withKey(tintype, api_key), project_slug, picture);
  const agent = new Agent({ keepAlive: true });
  const ask: Ask = (path) => send(tintype, agent, path);
  await ask(HIT);
  const capacity = await measureCapacity(ask);
  const hits = () => askSteadily(() => ask(HIT), HITS_EVERY_MS);
  const alone = await hits();
  const every_ms = 1000 / (capacity * OVERLOAD);
  const [flood, beside] = await Promise.all([
    askSteadily((at) => ask(cold(CAPACITY_RENDERS + at)), every_ms),
    hits(),
  ]);
  agent.destroy();
  return [...describeHits(alone, beside), ...describeFlood(capacity, flood)];
}

/** Returns a path with a new size. */
function cold(at: number): string {
  return `/resize/${1600 + (at % 400)}x${1000 + Math.floor(at / 400)}/f/${SLUG}`;
}

/** Returns renders per second, with as many concurrent requests as there are slots. */
async function measureCapacity(ask: Ask): Promise<number> {
  const started = performance.now();
  const paths = Array.from({ length: CAPACITY_RENDERS }, (_, at) => cold(at));
  const viewer = async () => {
    for (let path = paths.shift(); path !== undefined; path = paths.shift()) await ask(path);
  };
  await Promise.all([viewer(), viewer(), viewer()]);
  return (CAPACITY_RENDERS * 1000) / (performance.now() - started);
}

async function askSteadily(ask: (at: number) => Promise<Seen>, everyMs: number): Promise<Seen[]> {
  const asked: Promise<Seen>[] = [];
  const started = performance.now();
  for (let at = 0; at * everyMs < SPAN_MS; at += 1) {
    asked.push(ask(at));
    await sleep(Math.max(0, started + (at + 1) * everyMs - performance.now()));
  }
  return Promise.all(asked);
}

/** Discards the response bytes, to do as little work as possible. */
function send({ instance }: Tintype, agent: Agent, path: string): Promise<Seen> {
  const { delivery_port: port, delivery_root_domain, project_slug } = instance;
  const host = `${project_slug}.${delivery_root_domain}:${port}`;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    sendRequest({ host: '127.0.0.1', port, path, agent, headers: { host } }, (response) => {
      const { statusCode: status = 0, headers } = response;
      const retry_after = Number(headers['retry-after']);
      response.resume().once('error', reject);
      response.once('end', () => resolve({ status, ms: performance.now() - started, retry_after }));
    })
      .once('error', reject)
      .end();
  });
}

function describeHits(alone: Seen[], beside: Seen[]): Figure[] {
  const others = beside.filter(({ status }) => status !== 200);
  return [
    figure('hits a second', '', [1000 / HITS_EVERY_MS]),
    figure('hits alone, p99', 'ms', [p99(alone)]),
    figure('hits beside twice the cold images, p99', 'ms', [p99(beside)]),
    figure('… times those alone', '', [p99(beside) / p99(alone)]),
    figure('… answered other than 200', '', [others.length]),
  ];
}

function describeFlood(capacity: number, flood: Seen[]): Figure[] {
  const refused = flood.filter(({ status }) => status === 503);
  const rendered = flood.filter(({ status }) => status === 200);
  const others = flood.length - refused.length - rendered.length;
  return [
    figure('cold images that can be rendered', '/s', [capacity]),
    figure('cold images asked for', '/s', [(flood.length * 1000) / SPAN_MS]),
    figure('… rendered of them', '/s', [(rendered.length * 1000) / SPAN_MS]),
    figure('… after, p99', 'ms', [p99(rendered)]),
    figure('… refused with 503, of 100', '', [(100 * refused.length) / flood.length]),
    figure('… told so after, p99', 'ms', [p99(refused)]),
    figure(
      '… to come again after',
      's',
      refused.map(({ retry_after }) => retry_after),
    ),
    figure('… answered with anything else', '', [others]),
  ];
}

function p99(seen: readonly Seen[]): number {
  return percentile(
    seen.map(({ ms }) => ms),
    0.99,
  );
}

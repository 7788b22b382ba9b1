/**
 * What viewers of images that are there notice while twice as many cold images are asked for as can be rendered: the
 * hits' waits, beside those of the same hits alone, and how soon the excess is told to come again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { deliver, withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { type Figure, figure } from './figure.ts';
import { findPhotographs } from './photographs.ts';

const SLUG = 'overload.jpg';
const HIT = `/resize/400x300/f/${SLUG}`;
const HITS_EVERY_MS = 10;
const SPAN_MS = 8000;
const CAPACITY_RENDERS = 40;
const OVERLOAD = 2;

type Seen = { status: number; ms: number };

export async function measureOverload(tintype: Tintype): Promise<Figure[]> {
  const { api_key, project_slug } = tintype.instance;
  const [photograph] = await findPhotographs();
  if (photograph === undefined) throw new Error('no photograph');
  const picture = { bytes: photograph.bytes, content_type: 'image/jpeg', file_slug: SLUG };
  await upload(withKey(tintype, api_key), project_slug, picture);
  await ask(tintype, HIT);
  const capacity = await measureCapacity(tintype);
  const alone = await askSteadily(tintype, { path: () => HIT, every_ms: HITS_EVERY_MS });
  const every_ms = 1000 / (capacity * OVERLOAD);
  const [flood, hits] = await Promise.all([
    askSteadily(tintype, { path: (at) => cold(CAPACITY_RENDERS + at), every_ms }),
    askSteadily(tintype, { path: () => HIT, every_ms: HITS_EVERY_MS }),
  ]);
  return describe({ capacity, alone, hits, flood });
}

/** Each of a size of its own. */
function cold(at: number): string {
  return `/resize/${1600 + (at % 400)}x${1000 + Math.floor(at / 400)}/f/${SLUG}`;
}

/** Cold images a second, as many at a time as there are slots. */
async function measureCapacity(tintype: Tintype): Promise<number> {
  const started = performance.now();
  const paths = Array.from({ length: CAPACITY_RENDERS }, (_, at) => cold(at));
  const worker = async () => {
    for (let path = paths.shift(); path !== undefined; path = paths.shift())
      await ask(tintype, path);
  };
  await Promise.all([worker(), worker(), worker()]);
  return (CAPACITY_RENDERS * 1000) / (performance.now() - started);
}

/** Whatever happens to the ones before. */
async function askSteadily(
  tintype: Tintype,
  { path, every_ms }: { path(at: number): string; every_ms: number },
): Promise<Seen[]> {
  const asked: Promise<Seen>[] = [];
  const started = performance.now();
  for (let at = 0; at * every_ms < SPAN_MS; at += 1) {
    asked.push(ask(tintype, path(at)));
    await sleep(Math.max(0, started + (at + 1) * every_ms - performance.now()));
  }
  return Promise.all(asked);
}

async function ask(tintype: Tintype, path: string): Promise<Seen> {
  const started = performance.now();
  const { status } = await deliver(tintype, { project: tintype.instance.project_slug, path });
  return { status, ms: performance.now() - started };
}

function describe(of: { capacity: number; alone: Seen[]; hits: Seen[]; flood: Seen[] }): Figure[] {
  const count = (seen: Seen[], status: number) =>
    seen.filter((one) => one.status === status).length;
  const p99 = (seen: Seen[]) => {
    const ms = seen.map((one) => one.ms).sort((a, b) => a - b);
    return ms[Math.floor(ms.length * 0.99)] ?? Number.NaN;
  };
  const refused = of.flood.filter(({ status }) => status === 503);
  const others = of.flood.length - refused.length - count(of.flood, 200);
  return [
    figure('cold images that can be rendered', '/s', [of.capacity]),
    figure('hits alone, p99', 'ms', [p99(of.alone)]),
    figure('hits beside twice that many cold images, p99', 'ms', [p99(of.hits)]),
    figure('… times those alone', '', [p99(of.hits) / p99(of.alone)]),
    figure('… answered other than 200', '', [of.hits.length - count(of.hits, 200)]),
    figure('cold images refused with 503, of 100', '', [(100 * refused.length) / of.flood.length]),
    figure('… told so after, p99', 'ms', [p99(refused)]),
    figure('cold images answered with anything else', '', [others]),
  ];
}

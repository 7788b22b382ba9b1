/**
 * The latency of renders alone, and while one request in twenty uploads a file that is valid and as expensive to decode
 * as its type permits. Renders never read such files: only their re-encoded images are delivered. Also how long after its
 * limit a decoder that never ends is killed.
 */
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { createLog } from '../../runtime/platform/log.ts';
import { createSandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import { deliver, withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { type Picture, sendUpload, upload } from '../contract/support/upload.ts';
import { type Figure, figure, percentile } from './figure.ts';
import { findPhotographs } from './photographs.ts';

const SLUG = 'among-hostile.jpg';
const RENDERS = 200;
const WARM_UPS = 20;
const UPLOAD_EVERY = 20;
const WIDTH = 300;
const KILLS = 3;
const LIMIT_MS = 1000;

export async function measureHostileNeighbours(tintype: Tintype): Promise<Figure[]> {
  const { api_key, project_slug } = tintype.instance;
  const [photograph] = await findPhotographs();
  if (photograph === undefined) throw new Error('no photograph');
  const picture = { bytes: photograph.bytes, content_type: 'image/jpeg', file_slug: SLUG };
  await upload(withKey(tintype, api_key), project_slug, picture);
  const [late, hostile] = [await measureKills(), await makeHostile()];
  await renderAll(tintype, { from: WIDTH - WARM_UPS, count: WARM_UPS, hostile: [] });
  const alone = await renderAll(tintype, { from: WIDTH, count: RENDERS, hostile: [] });
  const beside = await renderAll(tintype, { from: WIDTH + RENDERS, count: RENDERS, hostile });
  const worst = percentile(beside, 0.99) / percentile(alone, 0.99);
  return [
    figure(`${RENDERS} renders alone`, 'ms', alone),
    figure('… while one request in twenty uploads a hostile file', 'ms', beside),
    figure('… p99, times that of renders alone', '', [worst]),
    figure('a decoder that never ends: killed after its limit, by', 'ms', late),
  ];
}

/** Requests images that were never rendered, as many at once as there are decoders for them, until `work` ends. */
export async function whileRendering<Result>(
  tintype: Tintype,
  work: () => Promise<Result>,
): Promise<Result> {
  let isOver = false;
  let width = WIDTH + 2 * RENDERS;
  const render = async () => {
    while (!isOver) await renderAll(tintype, { from: width++, count: 1, hostile: [] });
  };
  const viewers = Promise.all(Array.from({ length: availableParallelism() }, render));
  try {
    return await work();
  } finally {
    isOver = true;
    await viewers;
  }
}

async function measureKills(): Promise<number[]> {
  const sandbox = createSandbox({
    ...{ slots: 1, wall_clock_ms: LIMIT_MS, memory_bytes: 400_000_000, jobs_per_child: 100 },
    log: createLog({ level: 'silent', name: 'bench' }),
    entry: new URL('../runtime/worker/sandbox/misbehaving-child.ts', import.meta.url),
  });
  const job = (kind: string) => sandbox.run({ kind, facts: {}, parts: [] });
  const late: number[] = [];
  try {
    for (let kill = 0; kill < KILLS; kill += 1) {
      // The next child has started once it answers.
      await job('echo');
      const began = performance.now();
      await job('spins').catch(() => undefined);
      late.push(performance.now() - began - LIMIT_MS);
    }
  } finally {
    await sandbox.close();
  }
  return late;
}

type Renders = { from: number; count: number; hostile: readonly Picture[] };

/** Renders one after the other. Waits until a hostile file is accepted, but not until it is decoded. */
async function renderAll(tintype: Tintype, { from, count, hostile }: Renders): Promise<number[]> {
  const { api_key, project_slug: project } = tintype.instance;
  const took: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const one = at % UPLOAD_EVERY === 0 && hostile[(at / UPLOAD_EVERY) % hostile.length];
    if (one) await sendUpload(withKey(tintype, api_key), project, one);
    const began = performance.now();
    const { status } = await deliver(tintype, { project, path: `/resize/${from + at}x/f/${SLUG}` });
    if (status !== 200) throw new Error(`a render answered ${status}`);
    took.push(performance.now() - began);
  }
  return took;
}

const BLUR = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><filter id="f"><feGaussianBlur stdDeviation="3"/></filter><circle cx="50" cy="50" r="40" filter="url(#f)"/></svg>`;

async function makeHostile(): Promise<Picture[]> {
  const flat = (width: number, height: number) =>
    sharp({
      create: { width, height, channels: 3, background: '#123456' },
      limitInputPixels: false,
    });
  return [
    {
      content_type: 'image/jpeg',
      bytes: await flat(10_000, 10_000).jpeg({ progressive: true }).toBuffer(),
    },
    {
      content_type: 'image/png',
      bytes: await flat(7_000, 7_000).png({ progressive: true }).toBuffer(),
    },
    { content_type: 'image/avif', bytes: await flat(6_000, 4_500).avif({ effort: 0 }).toBuffer() },
    { content_type: 'image/svg+xml', bytes: Buffer.from(BLUR) },
  ];
}

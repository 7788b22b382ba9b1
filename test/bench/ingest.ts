/**
 * The time from accepted bytes to a published file, for large images of each type and for a mixed set, compared with a
 * process in which sharp alone decodes and encodes the file once.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { sendUpload } from '../contract/support/upload.ts';
import { type Figure, figure } from './figure.ts';
import { type IngestSample, makeIngestSamples, makeMixedSet } from './ingest-samples.ts';
import { measureAtRest, measureTree, watchCpu } from './process-tree.ts';

const RUNS = 20;
/** Runs sharp alone after every fourth upload, so that other load on the machine affects both. */
const ALONE_EVERY = 4;
/**
 * Polls rarely, to affect the measurement little; the session itself records when it became ready.
 */
const POLL_MS = 400;
const WATCH_MS = 50;

export async function measureIngest(tintype: Tintype): Promise<Figure[]> {
  const figures: Figure[] = [];
  const { pss_bytes: rest_bytes } = await measureAtRest(tintype.instance.pid);
  for (const sample of await makeIngestSamples()) {
    figures.push(...(await measureSample(tintype, { sample, rest_bytes })));
  }
  figures.push(...(await measureMixed(tintype)));
  return figures;
}

async function measureSample(
  tintype: Tintype,
  { sample, rest_bytes }: { sample: IngestSample; rest_bytes: number },
): Promise<Figure[]> {
  const runs: Run[] = [];
  const alone: Alone[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    runs.push(await measureUpload(tintype, sample));
    if (run % ALONE_EVERY === 0) alone.push(await runAlone('sharp-alone.ts', sample));
  }
  const decoder = await runAlone<Sanitized>('sanitize-alone.ts', sample);
  return [
    ...describe(sample.name, { runs, alone, rest_bytes }),
    figure(`${sample.name}: decoder alone, peak memory`, 'MB', [decoder.peak_bytes / 1e6]),
    figure(`${sample.name}: its estimate, times its peak`, '', [
      decoder.estimate_bytes / decoder.peak_bytes,
    ]),
  ];
}

type Run = { ms: number; cpu_ms: number; peak_bytes: number };
type Alone = { cpu_ms: number; peak_bytes: number };

function describe(
  name: string,
  { runs, alone, rest_bytes }: { runs: Run[]; alone: Alone[]; rest_bytes: number },
): Figure[] {
  const of = <T>(all: readonly T[], read: (one: T) => number) => all.map(read);
  const cpu = figure(
    `${name}: accepted to ready, CPU`,
    'ms',
    of(runs, ({ cpu_ms }) => cpu_ms),
  );
  const aloneCpu = figure(
    `${name}: sharp alone, CPU`,
    'ms',
    of(alone, ({ cpu_ms }) => cpu_ms),
  );
  const mine = of(runs, ({ peak_bytes }) => (peak_bytes - rest_bytes) / 1e6);
  const theirs = of(alone, ({ peak_bytes }) => peak_bytes / 1e6);
  return [
    figure(
      `${name}: accepted to ready`,
      'ms',
      of(runs, ({ ms }) => ms),
    ),
    cpu,
    aloneCpu,
    figure(`${name}: CPU, times that of sharp alone`, '', [cpu.median / aloneCpu.median]),
    figure(`${name}: peak memory over rest`, 'MB', mine),
    figure(`${name}: sharp alone, peak memory of its process`, 'MB', theirs),
  ];
}

async function measureUpload(
  tintype: Tintype,
  { bytes, content_type, name }: IngestSample,
): Promise<Run> {
  const { pid, project_slug, api_key } = tintype.instance;
  const api = withKey(tintype, api_key);
  const cpu = watchCpu(pid);
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, measureTree(pid).pss_bytes);
  }, WATCH_MS);
  try {
    const sent = await sendUpload(api, project_slug, { bytes, content_type });
    const started = Date.now();
    const session = await untilReady(tintype, { upload_id: sent.body.upload_id, name });
    const cpu_ms = cpu.stop();
    const ms = Date.parse(session.ready_at) - started;
    return { ms, cpu_ms, peak_bytes: peak };
  } finally {
    clearInterval(timer);
  }
}

async function untilReady(tintype: Tintype, of: { upload_id: string; name: string }) {
  const { project_slug, api_key } = tintype.instance;
  const path = `/v1/projects/${project_slug}/uploads/${of.upload_id}`;
  for (;;) {
    const { body } = await withKey(tintype, api_key)('GET', path);
    if (body.status === 'ready') return body;
    if (body.status === 'failed') throw new Error(`${of.name} was refused: ${body.error_code}`);
    await sleep(POLL_MS);
  }
}

type Sanitized = { estimate_bytes: number; peak_bytes: number };

async function runAlone<T>(name: string, { bytes, content_type }: IngestSample): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-bench-'));
  try {
    const file = join(folder, 'source');
    await writeFile(file, bytes);
    const program = join(import.meta.dirname, name);
    const { stdout } = await promisify(execFile)(process.execPath, [program, file, content_type], {
      env: { ...process.env, MALLOC_ARENA_MAX: '2', VIPS_DISC_THRESHOLD: '1000g' },
    });
    return JSON.parse(stdout) as T;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureMixed(tintype: Tintype): Promise<Figure[]> {
  const { pid, project_slug, api_key } = tintype.instance;
  const set = await makeMixedSet();
  const cpu = watchCpu(pid);
  const started = performance.now();
  const sent = [];
  for (const { bytes, content_type, name } of set) {
    const { body } = await sendUpload(withKey(tintype, api_key), project_slug, {
      bytes,
      content_type,
    });
    sent.push({ upload_id: body.upload_id, name });
  }
  for (const one of sent) await untilReady(tintype, one);
  const cpu_ms = cpu.stop();
  const wall_ms = performance.now() - started;
  return [
    figure(`${set.length} mixed files: a minute of one core`, 'files', [
      (set.length * 60_000) / cpu_ms,
    ]),
    figure(`${set.length} mixed files: a minute with one slot`, 'files', [
      (set.length * 60_000) / wall_ms,
    ]),
  ];
}

/**
 * The time to reject each bomb: CPU and wall time in a warm decoder process, from the bytes to the verdict. If its
 * header or text reveals a bomb, also the time through the API, from the complete call to the failed upload.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withKey } from '../contract/support/client.ts';
import {
  projectRoot,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { sendUpload } from '../contract/support/upload.ts';
import { bombs } from '../support/hostile-corpus.ts';
import { type Figure, figure } from './figure.ts';
import type { Refusal } from './refusals-alone.ts';

const GOAL_MS = 50;
const POLL_MS = 5;
const OUTPUT_BYTES_MAX = 10_000_000;

type Measured = Refusal & { api_ms: number | undefined };

export async function measureBombs(): Promise<Figure[]> {
  const alone = await refusalsAlone();
  const api = await refusalsOfTheApi();
  const refused = alone
    .filter(({ code }) => code !== 'ready')
    .map((one): Measured => ({ ...one, api_ms: api.get(one.name) }))
    .toSorted((a, b) => Number(b.is_shown) - Number(a.is_shown) || b.cpu_ms - a.cpu_ms);
  printRefusals(refused);
  const shown = refused.filter(({ is_shown }) => is_shown);
  const [drawings, rasters] = [shown.filter(isDrawing), shown.filter((one) => !isDrawing(one))];
  const cpu = (all: readonly Measured[]) => all.map(({ cpu_ms }) => cpu_ms);
  return [
    figure('bombs that a header shows: CPU to refuse', 'ms', cpu(rasters)),
    figure('drawings whose text shows it: CPU to refuse', 'ms', cpu(drawings)),
    figure('… of all these, above 50 ms', '', [cpu(shown).filter((ms) => ms > GOAL_MS).length]),
    figure(
      '… of all these through the API: completed to failed',
      'ms',
      shown.flatMap(({ api_ms }) => api_ms ?? []),
    ),
    figure(
      'bombs that only decoding shows: CPU to refuse',
      'ms',
      cpu(refused.filter(({ is_shown }) => !is_shown)),
    ),
  ];
}

function isDrawing({ content_type }: Refusal): boolean {
  return content_type === 'image/svg+xml';
}

async function refusalsAlone(): Promise<Refusal[]> {
  const program = join(import.meta.dirname, 'refusals-alone.ts');
  const options = { maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(process.execPath, [program], options);
  return JSON.parse(stdout) as Refusal[];
}

async function refusalsOfTheApi(): Promise<Map<string, number>> {
  const tintype = await startTintype({
    env: { TINTYPE_RATE_WRITES: '100000', TINTYPE_INGEST_SLOTS: '1' },
  });
  const times = new Map<string, number>();
  try {
    for await (const { name, header_code, bytes, content_type } of bombs()) {
      if (header_code === undefined) continue;
      // A file that is too large for its type is rejected before it is sent.
      const ms = await refuse(tintype, { bytes, content_type });
      if (ms !== undefined) times.set(name, ms);
    }
  } finally {
    await tintype.end('SIGTERM');
    await removeFolder(tintype.data);
  }
  return times;
}

async function refuse(
  tintype: Tintype,
  picture: { bytes: Buffer; content_type: string },
): Promise<number | undefined> {
  const { project_slug, api_key } = tintype.instance;
  const api = withKey(tintype, api_key);
  let completed = 0;
  const noting: typeof api = (method, path, body) => {
    completed = performance.now();
    return api(method, path, body);
  };
  const sent = await sendUpload(noting, project_slug, picture).catch(() => undefined);
  if (sent === undefined) return undefined;
  const path = `/v1/projects/${project_slug}/uploads/${sent.body.upload_id}`;
  for (;;) {
    const { body } = await api('GET', path);
    if (body.status === 'failed') return performance.now() - completed;
    if (body.status === 'ready') throw new Error('a bomb was let through');
    await sleep(POLL_MS);
  }
}

function printRefusals(refused: readonly Measured[]): void {
  const folder = join(projectRoot, '.bench');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'bombs.json'), `${JSON.stringify(refused, null, 2)}\n`);
  const cell = (ms: number | undefined) => (ms?.toFixed(1) ?? '').padStart(9);
  const lines = refused.map(
    ({ name, is_shown, code, cpu_ms, wall_ms, api_ms }) =>
      `${cell(cpu_ms)}${cell(wall_ms)}${cell(api_ms)}  ${is_shown ? 'shown  ' : 'decoded'}  ${code.padEnd(24)}${name}`,
  );
  const head = `${['CPU ms', 'wall ms', 'API ms'].map((one) => one.padStart(9)).join('')}  to refuse each bomb`;
  process.stdout.write(`${[head, ...lines].join('\n')}\n`);
}

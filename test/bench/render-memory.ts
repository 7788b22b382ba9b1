/**
 * The peak memory of renders over all processes of the product, compared with a process in which sharp renders the same
 * sizes from the same originals, one after the other.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { deliver, withKey } from '../contract/support/client.ts';
import {
  makeFolder,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { type Figure, figure } from './figure.ts';
import { type IngestSample, makeIngestSamples } from './ingest-samples.ts';
import { measureAtRest, measureTree } from './process-tree.ts';

const RENDERS = 8;
/** One width too large for half-way images, and one that is rendered from one. */
const WIDTHS = [2000, 440];
const WATCH_MS = 15;
const KINDS = ['image/jpeg', 'image/png', 'image/webp'];

export async function measureRenderMemory(): Promise<Figure[]> {
  const samples = (await makeIngestSamples()).filter((one) => KINDS.includes(one.content_type));
  const data = await makeFolder();
  try {
    await uploadAll(samples, data);
    const figures: Figure[] = [];
    for (const sample of samples) {
      for (const width of WIDTHS) figures.push(...(await measureFresh(data, { sample, width })));
    }
    return figures;
  } finally {
    await removeFolder(data);
  }
}

async function uploadAll(samples: readonly IngestSample[], data: string): Promise<void> {
  const tintype = await startTintype({ data });
  try {
    const { api_key, project_slug } = tintype.instance;
    for (const { name, bytes, content_type } of samples) {
      const picture = { bytes, content_type, file_slug: slugOf(name) };
      await upload(withKey(tintype, api_key), project_slug, picture);
    }
  } finally {
    await tintype.end('SIGTERM');
  }
}

function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

/** Starts new processes, which have no memory left over from uploads and earlier renders. */
async function measureFresh(data: string, of: Of): Promise<Figure[]> {
  const tintype = await startTintype({ data });
  try {
    return await measureWidth(tintype, of);
  } finally {
    await tintype.end('SIGTERM');
  }
}

type Of = { sample: IngestSample; width: number };

async function measureWidth(tintype: Tintype, of: Of): Promise<Figure[]> {
  const name = `${of.sample.name} to ${of.width} px`;
  const { pss_bytes: rest } = await measureAtRest(tintype.instance.pid);
  const peak = await watchPeak(tintype, () => renderAll(tintype, of));
  const alone = await renderAlone(of);
  return [
    figure(`${name}: peak memory over rest`, 'MB', [(peak - rest) / 1e6]),
    figure(`${name}: sharp alone, peak over its rest`, 'MB', [alone / 1e6]),
    figure(`${name}: times sharp alone`, '', [(peak - rest) / alone]),
  ];
}

async function renderAll(tintype: Tintype, { sample, width }: Of): Promise<void> {
  const { project_slug: project } = tintype.instance;
  for (let at = 0; at < RENDERS; at += 1) {
    const path = `/resize/${width - at}x/f/${slugOf(sample.name)}`;
    const { status } = await deliver(tintype, { project, path });
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  }
}

async function watchPeak(tintype: Tintype, work: () => Promise<void>): Promise<number> {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, measureTree(tintype.instance.pid).pss_bytes);
  };
  const timer = setInterval(look, WATCH_MS);
  await work().finally(() => clearInterval(timer));
  return peak;
}

/** Renders in a separate process, and returns how much it grew. */
async function renderAlone({ sample, width }: Of): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-bench-'));
  const file = join(folder, 'source');
  await writeFile(file, sample.bytes);
  const program = fileURLToPath(new URL('./sharp-renders.ts', import.meta.url));
  const child = spawn(process.execPath, [program, file, String(width), String(RENDERS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  await rm(folder, { recursive: true });
  return Number(said);
}

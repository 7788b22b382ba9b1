/** First renders and stored hits at about 640×480, compared with resizing the original with sharp alone. */
import sharp from 'sharp';
import { deliver, withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { type Figure, figure } from './figure.ts';
import { findPhotographs, type Photograph } from './photographs.ts';
import { measureTree } from './process-tree.ts';

const RENDERS = 12;
const HITS = 200;

export async function measureDeliveries(tintype: Tintype): Promise<Figure[]> {
  const { api_key, project_slug } = tintype.instance;
  const figures: Figure[] = [];
  for (const [index, photograph] of (await findPhotographs()).entries()) {
    const slug = `bench-${index}.jpg`;
    const picture = { bytes: photograph.bytes, content_type: 'image/jpeg', file_slug: slug };
    await upload(withKey(tintype, api_key), project_slug, picture);
    // Each render has a new size, so none is stored yet.
    const paths = Array.from(
      { length: RENDERS },
      (_, at) => `/resize/${640 - at}x${480 - at}/f/${slug}`,
    );
    const renders = await measureAll(tintype, paths);
    const hits = await measureAll(
      tintype,
      Array.from({ length: HITS }, () => paths[0] ?? ''),
    );
    figures.push(
      figure(`${photograph.name}: first render at 640x480`, 'ms', renders.ms),
      figure(`${photograph.name}: first render at 640x480, CPU`, 'ms', [renders.cpu_ms]),
      figure(`${photograph.name}: stored hit at 640x480`, 'ms', hits.ms),
      figure(`${photograph.name}: stored hit at 640x480, CPU`, 'ms', [hits.cpu_ms]),
      figure(
        `${photograph.name}: sharp alone from the original, CPU`,
        'ms',
        await measureAlone(photograph),
      ),
    );
  }
  return figures;
}

async function measureAll(
  tintype: Tintype,
  paths: readonly string[],
): Promise<{ ms: number[]; cpu_ms: number }> {
  const before = measureTree(tintype.instance.pid).cpu_ms;
  const ms: number[] = [];
  for (const path of paths) {
    const started = performance.now();
    const { status } = await deliver(tintype, { project: tintype.instance.project_slug, path });
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    ms.push(performance.now() - started);
  }
  return { ms, cpu_ms: (measureTree(tintype.instance.pid).cpu_ms - before) / paths.length };
}

async function measureAlone({ bytes }: Photograph): Promise<number[]> {
  const runs: number[] = [];
  for (let run = 0; run < RENDERS; run += 1) {
    const before = process.cpuUsage();
    await sharp(bytes)
      .resize(640 - run, 480 - run)
      .jpeg({ quality: 80 })
      .toBuffer();
    const { user, system } = process.cpuUsage(before);
    runs.push((user + system) / 1000);
  }
  return runs;
}

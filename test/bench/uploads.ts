/** From accepted bytes to a published file, beside sharp re-encoding the same bytes alone. */
import sharp from 'sharp';
import { put, withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { type Figure, figure } from './figure.ts';
import type { Photograph } from './photographs.ts';
import { measureTree } from './process-tree.ts';

const RUNS = 3;
/** Seldom enough that asking costs little of what is measured. */
const POLL_MS = 100;

export async function measureUploads(
  tintype: Tintype,
  photographs: readonly Photograph[],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [index, photograph] of photographs.entries()) {
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) {
      runs.push(await measureUpload(tintype, photograph, `bench-${index}.jpg`));
    }
    const alone = await measureAlone(photograph);
    figures.push(
      figure(
        `${photograph.name}: accepted to ready`,
        'ms',
        runs.map(({ ms }) => ms),
      ),
      figure(
        `${photograph.name}: accepted to ready, CPU`,
        'ms',
        runs.map(({ cpu_ms }) => cpu_ms),
      ),
      figure(`${photograph.name}: sharp alone, re-encoded once, CPU`, 'ms', alone),
    );
  }
  return figures;
}

async function measureUpload(tintype: Tintype, { bytes }: Photograph, slug: string) {
  const api = withKey(tintype, tintype.instance.api_key);
  const path = `/v1/projects/${tintype.instance.project_slug}/uploads`;
  const wish = { content_type: 'image/jpeg', size_bytes: bytes.length, file_slug: slug };
  const created = await api('POST', path, wish);
  await put(created.body.direct.put_url, created.body.direct.headers, bytes);
  const before = measureTree(tintype.instance.pid);
  const started = Date.now();
  await api('POST', `${path}/${created.body.upload_id}/complete`);
  let session = created.body;
  while (session.status !== 'ready') {
    if (session.status === 'failed') throw new Error('the photograph was refused');
    await new Promise((resume) => setTimeout(resume, POLL_MS));
    session = (await api('GET', `${path}/${created.body.upload_id}`)).body;
  }
  const ms = Date.parse(session.ready_at) - started;
  return { ms, cpu_ms: measureTree(tintype.instance.pid).cpu_ms - before.cpu_ms };
}

async function measureAlone({ bytes }: Photograph): Promise<number[]> {
  sharp.cache(false);
  sharp.concurrency(1);
  const runs: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const before = process.cpuUsage();
    await sharp(bytes).autoOrient().jpeg({ quality: 90 }).toBuffer();
    const { user, system } = process.cpuUsage(before);
    runs.push((user + system) / 1000);
  }
  return runs;
}

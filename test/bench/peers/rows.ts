/** Measures one row per load and peer: first renders, many concurrent requests, one cold URL, and hot hits. */
import sharp from 'sharp';
import { likeness, over, samplesOf } from '../../support/quality/likeness.ts';
import { percentile } from '../figure.ts';
import { load } from './load.ts';
import type { Peer, Work } from './peers.ts';
import type { Format, Source } from './sources.ts';

export const BARE = 'bare node:http';
const WIDTH = 440;
const WARM_UPS = 10;
const RENDERS = 16;
const MANY = 100;
const MANY_AT_ONCE = 4;
const VIEWERS = 200;
const HITS = 20_000;
const HITS_AT_ONCE = 16;
/** Fewer hits for peers that store no results and render each hit again. */
const HITS_ANEW = 80;

export type Row = {
  load: string;
  peer: string;
  cpu_ms: number;
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
  peak_mb: number;
  bytes: number;
  ssim: number | null;
  per_second: number;
};

/** Each piece of work has another width, so none is rendered yet. */
function work({ file }: Source, format: Format, at: number): Work {
  return { file, width: WIDTH + at, format };
}

/**
 * Renders some widths that nothing else requests, because processes in production are warm, too.
 */
export async function warmUp(peer: Peer, source: Source): Promise<void> {
  const addresses = Array.from({ length: WARM_UPS }, (_, at) =>
    peer.address(work(source, 'jpeg', -at)),
  );
  await load(peer.pid, { addresses, at_once: 1 });
}

/** Leaves out formats that the peer does not support in its default build. */
export async function measureRenders(peer: Peer, source: Source): Promise<Row[]> {
  const rows: Row[] = [];
  for (const format of source.formats) {
    const name = `${source.name} to ${WIDTH} px ${format}`;
    try {
      rows.push(await measureFormat(peer, { source, format, name }));
    } catch (error) {
      process.stderr.write(`  ${name}: ${error instanceof Error ? error.message : error}\n`);
    }
  }
  return rows;
}

type Asked = { source: Source; format: Format; name: string };

async function measureFormat(peer: Peer, { source, format, name }: Asked): Promise<Row> {
  const addresses = Array.from({ length: RENDERS }, (_, at) =>
    peer.address(work(source, format, at + 1)),
  );
  const loaded = await load(peer.pid, { addresses, at_once: 1 });
  const { format: kind } = await sharp(loaded.body).metadata();
  if (kind !== (format === 'avif' ? 'heif' : format)) throw new Error(`it answered ${kind}`);
  const ssim = await alike(loaded.body, source);
  return { ...rowOf(peer.name, name, { loaded, count: RENDERS }), ssim };
}

/** The similarity to a direct render from the full-resolution pixels, before encoding. */
async function alike(body: Buffer, { pixels }: Source): Promise<number> {
  const { width = 0, height = 0 } = await sharp(body).metadata();
  const picture = sharp(pixels, { limitInputPixels: false });
  const size = await picture.metadata();
  // Extracting the whole image first keeps the decoder from skipping pixels.
  const whole = picture.extract({ left: 0, top: 0, width: size.width, height: size.height });
  const straight = await whole.resize(width, height, { fit: 'fill' }).png().toBuffer();
  return likeness(over(await samplesOf(body)), over(await samplesOf(straight))).ssim;
}

/**
 * Requests different URLs, several concurrently, and measures the memory while they are rendered.
 */
export async function measureMany(peer: Peer, source: Source): Promise<Row> {
  const addresses = Array.from({ length: MANY }, (_, at) =>
    peer.address(work(source, 'jpeg', 100 + at)),
  );
  const loaded = await load(peer.pid, { addresses, at_once: MANY_AT_ONCE });
  return rowOf(peer.name, `${MANY} different URLs, ${MANY_AT_ONCE} at a time`, {
    loaded,
    count: MANY,
  });
}

export async function measureCold(peer: Peer, source: Source): Promise<Row> {
  const address = peer.address(work(source, 'jpeg', 300));
  const addresses = Array.from({ length: VIEWERS }, () => address);
  const loaded = await load(peer.pid, { addresses, at_once: VIEWERS });
  return rowOf(peer.name, `${VIEWERS} viewers of one cold URL, all`, { loaded, count: 1 });
}

export async function measureHits(peer: Peer, source: Source): Promise<Row> {
  const address = peer.address(work(source, 'jpeg', 1));
  const count = peer.keeps_results ? HITS : HITS_ANEW;
  const addresses = Array.from({ length: count }, () => address);
  const loaded = await load(peer.pid, { addresses, at_once: HITS_AT_ONCE, is_watched: false });
  return rowOf(peer.name, 'hot hits', { loaded, count });
}

type Loaded = { loaded: Awaited<ReturnType<typeof load>>; count: number };

function rowOf(peer: string, what: string, { loaded, count }: Loaded): Row {
  const { cpu_ms, ms, peak_bytes, body } = loaded;
  return {
    load: what,
    peer,
    cpu_ms: cpu_ms / count,
    p50_ms: percentile(ms, 0.5),
    p95_ms: percentile(ms, 0.95),
    p99_ms: percentile(ms, 0.99),
    peak_mb: peak_bytes / 1e6,
    bytes: body.length,
    ssim: null,
    per_second: (1000 * ms.length) / loaded.wall_ms,
  };
}

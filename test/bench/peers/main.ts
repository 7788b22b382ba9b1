/**
 * `node test/bench/peers/main.ts`: the same photographs and the same work, on Tintype and on what its users would take
 * instead, one after the other on the same cores. CPU is that of the whole process tree; ratios are to the best peer.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { projectRoot } from '../../contract/support/tintype.ts';
import { type Samples, ssim } from '../../support/ssim.ts';
import { installPeers } from './install.ts';
import { load, percentile } from './load.ts';
import { freePort, type Peer, peers, type Setting, startProgram, type Work } from './peers.ts';
import { LOSSLESS, makeSources, type Source } from './sources.ts';

const WIDTH = 440;
const RENDERS = 16;
const VIEWERS = 200;
const HITS = 4000;
const HITS_AT_ONCE = 16;
const BARE = 'bare node:http';

type Row = {
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

const folder = mkdtempSync(join(tmpdir(), 'tintype-peers-'));
try {
  const setting = { folder, sources: await makeSources(folder), installed: installPeers() };
  const rows = await measureAll(setting);
  print(rows);
  save(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// What a peer left open in this process is not waited for.
process.exit();

async function measureAll(setting: Setting): Promise<Row[]> {
  const rows: Row[] = [];
  for (const start of peers) {
    const peer = await start(setting);
    process.stderr.write(`${peer.name} …\n`);
    try {
      rows.push(...(await measurePeer(peer, setting.sources)));
    } finally {
      await peer.stop();
    }
  }
  rows.push(await measureBare(setting));
  return rows;
}

async function measurePeer(peer: Peer, sources: readonly Source[]): Promise<Row[]> {
  const [first] = sources;
  if (first === undefined) return [];
  const rows: Row[] = [];
  // A process that has rendered once is what production has.
  await load(peer.pid, { addresses: [peer.address(work(first, 'jpeg', 0))], at_once: 1 });
  for (const source of sources) rows.push(...(await measureRenders(peer, source, 'jpeg')));
  for (const format of ['webp', 'avif'] as const) {
    rows.push(...(await measureRenders(peer, first, format)));
  }
  rows.push(await measureCold(peer, first), await measureHits(peer, first));
  return rows;
}

/** Each of a width of its own, so that each is a first one. */
function work({ file }: Source, format: Work['format'], at: number): Work {
  return { file, width: WIDTH + at, format };
}

/** No row of what the peer cannot do as it comes. */
async function measureRenders(peer: Peer, source: Source, format: Work['format']): Promise<Row[]> {
  const name = `${source.name} to ${WIDTH} px ${format}`;
  const addresses = Array.from({ length: RENDERS }, (_, at) =>
    peer.address(work(source, format, at + 1)),
  );
  try {
    const loaded = await load(peer.pid, { addresses, at_once: 1 });
    const { format: kind } = await sharp(loaded.body).metadata();
    if (kind !== (format === 'avif' ? 'heif' : format)) throw new Error(`it answered ${kind}`);
    const row = rowOf(peer.name, name, loaded, RENDERS);
    return [{ ...row, ssim: await likeness(loaded.body, WIDTH + RENDERS) }];
  } catch (error) {
    process.stderr.write(`  ${name}: ${error instanceof Error ? error.message : error}\n`);
    return [];
  }
}

async function measureCold(peer: Peer, source: Source): Promise<Row> {
  const address = peer.address(work(source, 'jpeg', 300));
  const addresses = Array.from({ length: VIEWERS }, () => address);
  const loaded = await load(peer.pid, { addresses, at_once: VIEWERS });
  return rowOf(peer.name, `${VIEWERS} viewers of one cold URL, all`, loaded, 1);
}

async function measureHits(peer: Peer, source: Source): Promise<Row> {
  const address = peer.address(work(source, 'jpeg', 1));
  // Who remembers nothing would take minutes.
  const count = ['Tintype', 'thumbor 7', BARE].includes(peer.name) ? HITS : HITS / 40;
  const addresses = Array.from({ length: count }, () => address);
  const loaded = await load(peer.pid, { addresses, at_once: HITS_AT_ONCE });
  return rowOf(peer.name, 'hot hits', loaded, count);
}

async function measureBare({ folder: at, sources }: Setting): Promise<Row> {
  const [source] = sources;
  if (source === undefined) throw new Error('nothing to send');
  const file = join(at, 'hit.jpg');
  writeFileSync(file, await sharp(source.bytes).resize(WIDTH).jpeg({ quality: 80 }).toBuffer());
  const port = await freePort();
  const program = join(import.meta.dirname, 'bare-server.ts');
  const bare = await startProgram(BARE, [process.execPath, program, String(port), file], {
    port,
    path: () => '/',
  });
  try {
    return await measureHits(bare, source);
  } finally {
    await bare.stop();
  }
}

type Measured = Awaited<ReturnType<typeof load>>;

function rowOf(peer: string, what: string, loaded: Measured, count: number): Row {
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

/** To a render straight from the pixels that every source was made of, before any encoder. */
async function likeness(body: Buffer, width: number): Promise<number> {
  const { height = 0 } = await sharp(body).metadata();
  const straight = sharp(join(folder, LOSSLESS)).resize(width, height, { fit: 'fill' });
  return ssim(await samplesOf(sharp(body)), await samplesOf(straight));
}

async function samplesOf(picture: Sharp): Promise<Samples> {
  const { data, info } = await picture
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

function print(rows: readonly Row[]): void {
  const write = (line: string) => process.stdout.write(`${line}\n`);
  for (const name of new Set(rows.map((row) => row.load))) {
    const of = rows.filter((row) => row.load === name);
    const others = of.filter(({ peer }) => peer !== 'Tintype').map(({ cpu_ms }) => cpu_ms);
    const best = Math.min(...others);
    write(`\n${name}`);
    write(
      '  peer              CPU ms   ratio     p50     p95     p99  peak MB    bytes   SSIM  /s',
    );
    for (const row of of) write(printRow(row, best));
  }
}

function printRow(row: Row, best: number): string {
  const number = (value: number, width: number, digits = 1) =>
    value.toFixed(digits).padStart(width);
  return [
    `  ${row.peer.padEnd(16)}`,
    number(row.cpu_ms, 8, 2),
    number(row.cpu_ms / best, 8, 2),
    number(row.p50_ms, 8),
    number(row.p95_ms, 8),
    number(row.p99_ms, 8),
    number(row.peak_mb, 9, 0),
    String(row.bytes).padStart(9),
    row.ssim === null ? '      -' : number(row.ssim, 7, 3),
    number(row.per_second, 7, 0),
  ].join('');
}

function save(rows: readonly Row[]): void {
  const at = join(projectRoot, '.bench');
  mkdirSync(at, { recursive: true });
  writeFileSync(
    join(at, 'peers.json'),
    `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`,
  );
}

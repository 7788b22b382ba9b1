/**
 * `node test/bench/peers/main.ts [part,part…] [peer,peer…]`: runs the same work on the same photographs on Tintype and
 * its alternatives, one after the other on the same cores. CPU time is that of the whole process tree; ratios are
 * relative to the best peer. Prints the machine first, and writes `.bench/peers.json`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { projectRoot } from '../../contract/support/tintype.ts';
import { freePort } from '../../support/free-port.ts';
import { describeMachine, printMachine } from '../machine.ts';
import { installPeers } from './install.ts';
import { type Peer, peers, type Setting, startProgram } from './peers.ts';
import {
  BARE,
  measureCold,
  measureHits,
  measureMany,
  measureRenders,
  type Row,
  warmUp,
} from './rows.ts';
import { makeSources, type Source, type SourceGroup } from './sources.ts';

const GROUPS: readonly SourceGroup[] = ['formats', 'photographs', 'graphics'];
const MANY = 'many';
const PARTS: readonly string[] = [...GROUPS, MANY];
const NAMES = Object.keys(peers);

const parts = wordsOf(process.argv[2], PARTS);
const names = wordsOf(process.argv[3], NAMES);
const machine = describeMachine();
process.stdout.write(`${printMachine(machine)}\n`);
const folder = mkdtempSync(join(tmpdir(), 'tintype-peers-'));
try {
  const rows = await measureAll();
  print(rows);
  save(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// Exits without waiting for connections to peers that are still open.
process.exit();

function wordsOf(argument: string | undefined, known: readonly string[]): readonly string[] {
  const words = argument === undefined || argument === 'all' ? known : argument.split(',');
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length === 0) return words;
  process.stderr.write(
    `node test/bench/peers/main.ts [part,part…|all] [peer,peer…]\nparts: ${PARTS.join(', ')}\npeers: ${NAMES.join(', ')}\n`,
  );
  process.exit(2);
}

async function measureAll(): Promise<Row[]> {
  const groups = GROUPS.filter((group) => parts.includes(group));
  // The test with many viewers needs a photograph of the formats group.
  const needed = parts.includes(MANY) ? new Set<SourceGroup>(['formats', ...groups]) : groups;
  const sources = await makeSources(folder, [...needed]);
  const setting = { folder, sources, installed: installPeers() };
  const rows: Row[] = [];
  for (const [name, start] of Object.entries(peers)) {
    if (!names.includes(name)) continue;
    process.stderr.write(`${name} …\n`);
    const peer = await start(setting);
    if (peer === null) continue;
    try {
      rows.push(...(await measurePeer(peer, sources)));
    } finally {
      await peer.stop();
    }
  }
  if (parts.includes(MANY)) rows.push(await measureBare(setting));
  return rows;
}

async function measurePeer(peer: Peer, sources: readonly Source[]): Promise<Row[]> {
  const [first] = sources;
  if (first === undefined) return [];
  await warmUp(peer, first);
  const rows: Row[] = [];
  const isOnlyMany = parts.every((part) => part === MANY);
  for (const source of isOnlyMany ? [] : sources) {
    rows.push(...(await measureRenders(peer, source)));
  }
  if (!parts.includes(MANY)) return rows;
  for (const measure of [measureMany, measureCold, measureHits]) {
    rows.push(await measure(peer, first));
  }
  return rows;
}

async function measureBare({ sources }: Setting): Promise<Row> {
  const [source] = sources;
  if (source === undefined) throw new Error('nothing to send');
  const file = join(folder, 'hit.jpg');
  writeFileSync(file, await sharp(source.bytes).resize(440).jpeg({ quality: 80 }).toBuffer());
  const port = await freePort();
  const program = join(import.meta.dirname, 'bare-server.ts');
  const bare = await startProgram(BARE, [process.execPath, program, String(port), file], {
    port,
    path: () => '/',
    keeps_results: true,
  });
  try {
    return await measureHits(bare, source);
  } finally {
    await bare.stop();
  }
}

function print(rows: readonly Row[]): void {
  const write = (line: string) => process.stdout.write(`${line}\n`);
  for (const name of new Set(rows.map((row) => row.load))) {
    const of = rows.filter((row) => row.load === name);
    const others = of.filter(({ peer }) => peer !== 'Tintype').map(({ cpu_ms }) => cpu_ms);
    const best = Math.min(...others);
    write(`\n${name}`);
    write(
      '  peer              CPU ms   ratio     p50     p95     p99  peak MB    bytes   SSIM     /s',
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
  writeFileSync(join(at, 'peers.json'), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
}

/**
 * `make bench`: measures the cost of the product from outside and prints medians. Absolute times depend on the machine,
 * so it is printed first, and the same run measures the same work with sharp alone. `make bench ARGS=ingest` runs only
 * that part.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  projectRoot,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { measureApi } from './api.ts';
import { measureBombs } from './bombs.ts';
import { measureDeliveries } from './deliveries.ts';
import type { Figure } from './figure.ts';
import { measureFiles } from './files.ts';
import { measureIngest } from './ingest.ts';
import { measureInstall } from './install.ts';
import { measureLibraryFiles } from './library-files.ts';
import { describeMachine, printMachine } from './machine.ts';
import { measureMetering } from './metering.ts';
import { measureNeighbours } from './neighbours.ts';
import { measureOperator } from './operator.ts';
import { measureOverload } from './overload.ts';
import { measureProxyMemory } from './proxy-memory.ts';
import { measureQuality } from './quality.ts';
import { measureQuota } from './quota.ts';
import { measureRenderMemory } from './render-memory.ts';
import { measureRest } from './rest.ts';
import { measureStarts } from './starts.ts';
import { measureWebhooks } from './webhooks.ts';

const parts: Readonly<Record<string, () => Promise<Figure[]>>> = {
  starts: measureStarts,
  install: measureInstall,
  rest: () => running(measureRest),
  ingest: () => running(measureIngest),
  proxy: measureProxyMemory,
  neighbours: () => running(measureNeighbours),
  delivery: () => running(measureDeliveries),
  overload: () => running(measureOverload),
  memory: measureRenderMemory,
  bombs: measureBombs,
  files: () => measureFiles(running),
  'library-files': () => running(measureLibraryFiles),
  api: () => running(measureApi),
  quality: measureQuality,
  webhooks: measureWebhooks,
  metering: measureMetering,
  quota: () => running(measureQuota),
  operator: measureOperator,
  peers: measurePeers,
};

const [asked] = process.argv.slice(2);
if (asked === '--help') {
  process.stdout.write(
    `node test/bench/main.ts [part,part…]: every part, or some of ${Object.keys(parts).join(', ')}\n`,
  );
  process.exit(0);
}
const chosen = asked === undefined ? Object.keys(parts) : asked.split(',');
const unknown = chosen.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  process.stderr.write(
    `no part ${unknown.join(', ')}: name some of ${Object.keys(parts).join(',')}\n`,
  );
  process.exit(2);
}
const machine = describeMachine();
process.stdout.write(`${printMachine(machine)}\n`);
const figures: Figure[] = [];
const failed: string[] = [];
printLine(['figure', 'median', 'p95', 'min', 'max', 'unit  ', 'runs']);
for (const name of chosen) await measurePart(name);
if (failed.length > 0) {
  process.stderr.write(`not measured, see above: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

/** What was measured is kept, even if a later part fails. */
async function measurePart(name: string): Promise<void> {
  process.stderr.write(`${name} …\n`);
  try {
    const measured = (await parts[name]?.()) ?? [];
    figures.push(...measured);
    print(measured);
    save();
  } catch (error) {
    failed.push(name);
    console.error(error);
  }
}

async function running<Result>(measure: (tintype: Tintype) => Promise<Result>): Promise<Result> {
  const tintype = await startTintype();
  try {
    return await measure(tintype);
  } finally {
    await tintype.end('SIGTERM');
    await removeFolder(tintype.data);
  }
}

/**
 * Peers have other figures, so that program prints its own tables and writes them to
 * `.bench/peers.json`.
 */
async function measurePeers(): Promise<Figure[]> {
  const program = join(import.meta.dirname, 'peers', 'main.ts');
  execFileSync(process.execPath, [program], { stdio: 'inherit' });
  return [];
}

function save(): void {
  const folder = join(projectRoot, '.bench');
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const content = JSON.stringify({ version, machine, failed, figures }, null, 2);
  writeFileSync(join(folder, 'bench.json'), `${content}\n`);
}

function print(measured: readonly Figure[]): void {
  const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
  for (const { name, unit, median, p95, min, max, runs } of measured) {
    const numbers = [median, p95, min, max].map(round);
    printLine([name, ...numbers, unit.padEnd(6), String(runs)]);
  }
}

function printLine([
  name = '',
  median = '',
  p95 = '',
  min = '',
  max = '',
  ...rest
]: string[]): void {
  const columns = [median, p95, min, max].map((text) => text.padStart(8));
  process.stdout.write(`${name.padEnd(58)}${columns.join('')}  ${rest.join('')}\n`);
}

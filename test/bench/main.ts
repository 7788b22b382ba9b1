/**
 * `make bench`: the first way, measured from outside, several times, as medians. Absolute times are this machine's;
 * beside each stands the same work done by sharp alone in the same run.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  projectRoot,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { measureBombs } from './bombs.ts';
import { measureDeliveries } from './deliveries.ts';
import { type Figure, figure } from './figure.ts';
import { measureNeighbours } from './neighbours.ts';
import { findPhotographs } from './photographs.ts';
import { measureTree } from './process-tree.ts';
import { measureStarts } from './starts.ts';
import { measureUploads } from './uploads.ts';

const figures: Figure[] = [...(await measureStarts())];
const tintype = await startTintype();
try {
  figures.push(...(await measureRunning(tintype)));
} finally {
  await tintype.end('SIGTERM');
  await removeFolder(tintype.data);
}
print(figures);

async function measureRunning(running: Tintype): Promise<Figure[]> {
  const rest = measureTree(running.instance.pid);
  const photographs = await findPhotographs();
  return [
    figure('memory at rest, all processes', 'MB', [rest.pss_bytes / 1e6]),
    figure('processes at rest', '', [rest.processes]),
    ...(await measureUploads(running, photographs)),
    ...(await measureNeighbours(running)),
    ...(await measureDeliveries(running, photographs)),
    ...(await measureBombs()),
  ];
}

function print(all: readonly Figure[]): void {
  const folder = join(projectRoot, '.bench');
  mkdirSync(folder, { recursive: true });
  const version = (
    JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
  ).version;
  writeFileSync(
    join(folder, 'first-way.json'),
    `${JSON.stringify({ version, node: process.version, figures: all }, null, 2)}\n`,
  );
  const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1)).padStart(8);
  process.stdout.write(
    `${'figure'.padEnd(58)}${'median'.padStart(8)}${'min'.padStart(8)}${'max'.padStart(8)}  unit  runs\n`,
  );
  for (const { name, unit, median, min, max, runs } of all) {
    process.stdout.write(
      `${name.padEnd(58)}${round(median)}${round(min)}${round(max)}  ${unit.padEnd(6)}${runs}\n`,
    );
  }
}

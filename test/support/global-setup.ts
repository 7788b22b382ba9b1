// Starts one PostgreSQL for the whole test run, on a free port in a temporary folder, with a database that was migrated
// once: every test file clones it (see database.ts), and every Tintype that is started for a test begins with a copy of
// the whole folder (see contract/support/tintype.ts). Names the file of the answers that were seen (see seen.ts).
// Everything temporary of the run lies in one folder, so that the next run can remove what a killed one left behind: in
// memory where there is plenty of it, as a disk writes down each of the many files that a database comes and goes with.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { constants, getPriority, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../runtime/db/migrate.ts';
import { isAlive } from '../../runtime/platform/is-alive.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';
import { offerControlPlane } from './shared-control-plane.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connects to the database `postgres` of the run's server, as its superuser. */
    postgresUrl: string;
  }
}

/** The run's own, which nobody connects to. */
export const TEMPLATE_DATABASE = 'tintype';
const FOLDER_PREFIX = 'tintype-test-';
const MEMORY = '/dev/shm';
/** More than a run has at once, by far. */
const MEMORY_BYTES_MIN = 12 * 2 ** 30;
const TEMPORARY = 't';

let stop: (() => Promise<void>) | undefined;

export async function setup(project: TestProject): Promise<void> {
  // Test files keep all cores busy, and a decoder would wait for them as it does for what serves: here all are equal.
  setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  await removeLeftovers();
  const folder = mkdtempSync(join(placeOfRun(), FOLDER_PREFIX));
  writeFileSync(join(folder, 'owner.pid'), String(process.pid));
  process.env.TINTYPE_SEEN_FILE ||= join(folder, 'seen.jsonl');
  process.env.TMPDIR = makeTemporary(folder);
  const migrated = await makeMigrated(process.env.TMPDIR);
  process.env.TINTYPE_TEST_POSTGRES = migrated;
  // Not the folder itself, whose rights are for nobody else.
  execFileSync('cp', ['-a', join(migrated, 'data'), join(migrated, 'password'), folder]);
  const postgres = await startPostgres({ folder, settings: fastSettings });
  // Hundreds of processes load the same modules: what the first that ends well has compiled, the others read.
  process.env.NODE_COMPILE_CACHE = join(process.env.TMPDIR, 'node-compile-cache');
  const kubernetes = await offerControlPlane();
  stop = async () => {
    await kubernetes.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  project.provide('postgresUrl', urlOf(postgres.url, 'postgres'));
  project.provide('controlPlaneUrl', kubernetes.url);
}

/** Where somebody names one, there. */
function placeOfRun(): string {
  const isRoomy = () => {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) > MEMORY_BYTES_MIN;
  };
  // Tests start programs that they have written.
  const isExecutable = () =>
    /^tmpfs \/dev\/shm tmpfs (?!\S*noexec)/m.test(readFileSync('/proc/mounts', 'utf8'));
  const isMemory =
    process.env.TMPDIR === undefined && existsSync(MEMORY) && isExecutable() && isRoomy();
  return isMemory ? MEMORY : tmpdir();
}

/** Some tests run as nobody, who has to get there. */
function makeTemporary(folder: string): string {
  chmodSync(folder, 0o755);
  const temporary = join(folder, TEMPORARY);
  mkdirSync(temporary);
  chmodSync(temporary, 0o1777);
  return temporary;
}

export async function teardown(): Promise<void> {
  await stop?.();
}

/** Tests need no durability, and many small databases at once. */
const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  shared_buffers: '128MB',
  // Who sets synchronous_commit waits at its commit for a standby that there never is: for tests that end it there.
  synchronous_standby_names: 'nobody',
};

/** The folder of a server that has ended, whose database has every table and nothing in them. */
async function makeMigrated(place: string): Promise<string> {
  const folder = migratedIn(place);
  const postgres = await startPostgres({ folder, settings: fastSettings });
  await migrate(postgres.url);
  await postgres.stop();
  return folder;
}

const migratedIn = (place: string) => join(place, 'postgres');

function urlOf(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href;
}

// A run that was killed leaves servers behind: once its owner is gone, PostgreSQL is stopped by its own pid file, and
// whatever else still has the run's folder as its temporary one is ended by its id.
async function removeLeftovers(): Promise<void> {
  for (const folder of [tmpdir(), MEMORY].flatMap(foldersOfRuns)) {
    const owner = join(folder, 'owner.pid');
    if (!existsSync(owner) || isAlive(Number(readFileSync(owner, 'utf8')))) continue;
    for (const server of [folder, migratedIn(join(folder, TEMPORARY))]) {
      if (!existsSync(join(server, 'data', 'postmaster.pid'))) continue;
      await (await startPostgres({ folder: server, settings: fastSettings })).stop();
    }
    for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function foldersOfRuns(place: string): string[] {
  if (!existsSync(place)) return [];
  const names = readdirSync(place).filter((name) => name.startsWith(FOLDER_PREFIX));
  return names.map((name) => join(place, name));
}

function processesOf(folder: string): number[] {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
  return pids.filter((pid) => environmentOf(pid).includes(`TMPDIR=${join(folder, TEMPORARY)}\0`));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

// Starts one PostgreSQL for the whole test run, on a free port in a temporary folder, with a database that was migrated
// once: every test file clones it (see database.ts), and every Tintype started for a test begins with a copy of the
// whole folder (see contract/support/tintype.ts). Names the file of the seen answers (see seen.ts). All temporary files
// of the run are in one folder, so that the next run can remove what a killed one left behind: in memory if there is
// plenty, because a disk must write each of the many files with which databases come and go.
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
    /** Connects to the database `postgres` of the run's server, as superuser. */
    postgresUrl: string;
  }
}

/** The run's template, to which nobody connects. */
export const TEMPLATE_DATABASE = 'tintype';
const FOLDER_PREFIX = 'tintype-test-';
const MEMORY = '/dev/shm';
/** Far more than a run uses at once. */
const MEMORY_BYTES_MIN = 12 * 2 ** 30;
const TEMPORARY = 't';

let stop: (() => Promise<void>) | undefined;

export async function setup(project: TestProject): Promise<void> {
  // Test files occupy all cores, and decoders would yield to them as they yield to servers: here
  // all have the same priority.
  setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  await removeLeftovers();
  const folder = mkdtempSync(join(placeOfRun(), FOLDER_PREFIX));
  writeFileSync(join(folder, 'owner.pid'), String(process.pid));
  process.env.TINTYPE_SEEN_FILE ||= join(folder, 'seen.jsonl');
  process.env.TMPDIR = makeTemporary(folder);
  const migrated = await makeMigrated(process.env.TMPDIR);
  process.env.TINTYPE_TEST_POSTGRES = migrated;
  // Without the folder itself, which is accessible only to its owner.
  execFileSync('cp', ['-a', join(migrated, 'data'), join(migrated, 'password'), folder]);
  const postgres = await startPostgres({ folder, settings: fastSettings });
  // Hundreds of processes load the same modules: the first to finish compiles them for the others.
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

/** TMPDIR, if it is set. */
function placeOfRun(): string {
  const isRoomy = () => {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) > MEMORY_BYTES_MIN;
  };
  // Tests execute programs that they have written there.
  const isExecutable = () =>
    /^tmpfs \/dev\/shm tmpfs (?!\S*noexec)/m.test(readFileSync('/proc/mounts', 'utf8'));
  const isMemory =
    process.env.TMPDIR === undefined && existsSync(MEMORY) && isExecutable() && isRoomy();
  return isMemory ? MEMORY : tmpdir();
}

/** Some tests run as user nobody, who needs access. */
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

/** Tests need no durability, but many small databases at once. */
const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  shared_buffers: '128MB',
  // A commit with synchronous_commit on waits for a standby that never exists: for tests that end
  // the server there.
  synchronous_standby_names: 'nobody',
};

/** The folder of a stopped server whose database has every table and no rows. */
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

// A killed run leaves servers behind: once its owner is gone, PostgreSQL is stopped by its own pid
// file, and whatever else still uses the run's temporary folder is stopped by its process id.
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

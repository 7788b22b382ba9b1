// Starts one PostgreSQL for the test run and migrates a template database once. Each test file clones the template
// (database.ts); each Tintype started by a test copies the whole data folder (contract/support/tintype.ts). Also offers
// the shared control plane, broker and Tintype, and sets the file of the seen responses (seen.ts).
// All temporary files of the run are in one folder, so that the next run can remove what a killed run left. The folder
// is in memory if there is enough, because creating and dropping databases writes many files.
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
import { isProcessAlive } from '../../runtime/platform/is-process-alive.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';
import { offerTintype } from '../contract/support/shared-tintype.ts';
import { TEMPLATE_VARIABLE } from './plane-template.ts';
import { offerBroker } from './shared-broker.ts';
import { offerControlPlane } from './shared-control-plane.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Superuser URL of the database `postgres` of the run's server. */
    postgresUrl: string;
  }
}

/** The template that test files clone; PostgreSQL clones only databases without connections. */
export const TEMPLATE_DATABASE = 'tintype';
const FOLDER_PREFIX = 'tintype-test-';
const MEMORY = '/dev/shm';
/** Far more than a run needs. */
const MEMORY_BYTES_MIN = 12 * 2 ** 30;
const TEMPORARY = 't';

let stop: (() => Promise<void>) | undefined;

export async function setup(project: TestProject): Promise<void> {
  // Servers give decoders a lower priority than themselves. Tests occupy all cores, so decoders
  // would starve; here all have the same priority.
  setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  await removeLeftovers();
  const folder = mkdtempSync(join(placeOfRun(), FOLDER_PREFIX));
  writeFileSync(join(folder, 'owner.pid'), String(process.pid));
  process.env.TINTYPE_SEEN_FILE ||= join(folder, 'seen.jsonl');
  process.env.TMPDIR = makeTemporary(folder);
  const migrated = await makeMigrated(process.env.TMPDIR);
  process.env.TINTYPE_TEST_POSTGRES = migrated;
  // Copies the contents only, because the folder itself is accessible only to its owner.
  execFileSync('cp', ['-a', join(migrated, 'data'), join(migrated, 'password'), folder]);
  const postgres = await startPostgres({ folder, settings: fastSettings });
  // Hundreds of processes load the same modules; a shared cache compiles them once.
  process.env.NODE_COMPILE_CACHE = join(process.env.TMPDIR, 'node-compile-cache');
  process.env[TEMPLATE_VARIABLE] = join(process.env.TMPDIR, 'control-plane');
  const [kubernetes, broker] = [await offerControlPlane(), await offerBroker()];
  const tintype = await offerTintype();
  stop = async () => {
    await kubernetes.stop();
    await broker.stop();
    await tintype.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  project.provide('postgresUrl', urlOf(postgres.url, 'postgres'));
  project.provide('controlPlaneUrl', kubernetes.url);
  project.provide('brokerUrl', broker.url);
  project.provide('tintypeUrl', tintype.url);
}

/** TMPDIR if it is set, otherwise memory if there is enough. */
function placeOfRun(): string {
  const isRoomy = () => {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) > MEMORY_BYTES_MIN;
  };
  // Tests execute programs that they write to the folder.
  const isExecutable = () =>
    /^tmpfs \/dev\/shm tmpfs (?!\S*noexec)/m.test(readFileSync('/proc/mounts', 'utf8'));
  const isMemory =
    process.env.TMPDIR === undefined && existsSync(MEMORY) && isExecutable() && isRoomy();
  return isMemory ? MEMORY : tmpdir();
}

/** Some tests run as the user nobody, who needs access. */
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

/** Tests need no durability, but many small databases. */
const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  shared_buffers: '128MB',
  // No standby has this name, so commits with synchronous_commit on wait forever. Tests use this to
  // kill the server during a commit.
  synchronous_standby_names: 'nobody',
};

/** Returns the folder of a stopped server with a migrated, empty database. */
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

// A killed run leaves its servers running. Stops PostgreSQL by its pid file, and kills every other
// process that uses the temporary folder of that run.
async function removeLeftovers(): Promise<void> {
  for (const folder of [tmpdir(), MEMORY].flatMap(foldersOfRuns)) {
    const owner = join(folder, 'owner.pid');
    if (!existsSync(owner) || isProcessAlive(Number(readFileSync(owner, 'utf8')))) continue;
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

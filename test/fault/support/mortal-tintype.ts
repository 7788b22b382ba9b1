/** A real Tintype on one data folder that is killed and started again, and what its clients saw of it. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database } from '../../../runtime/db/client.ts';
import type { FailpointName } from '../../../runtime/platform/failpoint.ts';
import {
  makeFolder,
  removeFolder,
  runTintype,
  startTintype,
  type Tintype,
} from '../../contract/support/tintype.ts';

export const PROJECT = 'mortal';

export type Mortal = {
  data: string;
  /** Starts it, with a step at which it kills itself where one is named. */
  start(step?: FailpointName): Promise<Tintype>;
  /** One scheduled job in its own process, as `tintype job` runs it. */
  job(words: string[], step?: FailpointName): Promise<{ code: number | null; output: string }>;
  /** Ends what still runs and removes everything. */
  remove(): Promise<void>;
};

const PROJECT_YAML = `apiVersion: tintype.dev/v1alpha1
kind: Project
metadata:
  name: ${PROJECT}
spec:
  displayName: Mortal
  deliveryAccess: Public
`;

export async function makeMortal(): Promise<Mortal> {
  const data = await makeFolder();
  const config = await makeFolder();
  await writeFile(join(config, 'project.yaml'), PROJECT_YAML);
  let last: Tintype | undefined;
  const envOf = (step: FailpointName | undefined) => ({ TINTYPE_FAILPOINT: step ?? '' });
  return {
    data,
    start: async (step) => {
      last = await startTintype({ data, config, env: envOf(step) });
      return last;
    },
    job: async (words, step) => {
      const { code, stdout, stderr } = await runTintype(['job', ...words, '--data', data], {
        env: envOf(step),
      });
      return { code, output: `${stdout}${stderr}` };
    },
    remove: async () => {
      if (last !== undefined && !isOver(last)) await last.end('SIGTERM');
      await stopDatabaseServer(data);
      await Promise.all([data, config].map(removeFolder));
    },
  };
}

function isOver({ child }: Tintype): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

const DEATH_MS_MAX = 120_000;

/** Resolves when it was ended by SIGKILL; throws where it lives on. */
export async function untilKilled(tintype: Tintype, where = 'anywhere'): Promise<void> {
  const deadline = Date.now() + DEATH_MS_MAX;
  while (!isOver(tintype)) {
    if (Date.now() > deadline)
      throw new Error(`not killed at ${where}:\n${tintype.stderr.join('\n')}`);
    await sleep(20);
  }
  const { signalCode, exitCode } = tintype.child;
  if (signalCode !== 'SIGKILL')
    throw new Error(`at ${where} it ended with ${signalCode ?? exitCode}`);
}

/** Ends the PostgreSQL that a killed Tintype left behind, by the pid file that it keeps. */
export async function stopDatabaseServer(data: string): Promise<void> {
  const pid = await databaseServerPid(data);
  if (pid === undefined) return;
  process.kill(pid, 'SIGINT');
  while ((await databaseServerPid(data)) === pid) await sleep(20);
}

/** Undefined where none is running. */
export async function databaseServerPid(data: string): Promise<number | undefined> {
  const file = join(data, 'postgres', 'data', 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 && isRunning(pid) ? pid : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The database of a Tintype, for as long as the work takes. */
export async function withDatabase<T>(
  { instance }: Tintype,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = createDatabase({ url: instance.database_url, maxConnections: 2 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** So that there is an event to tell for every upload. */
export async function giveCallback(tintype: Tintype): Promise<void> {
  await withDatabase(tintype, (db) =>
    db.query(
      `update projects set callback_url = 'https://shop.example/hook', callback_secret_sealed = $2
       where project_slug = $1`,
      [PROJECT, Buffer.alloc(32)],
    ),
  );
}

/** Until everything that was spooled is in the database. */
export async function untilSpoolIsEmpty(data: string): Promise<void> {
  for (;;) {
    const names = await readdir(join(data, 'spool'), { recursive: true });
    if (!names.some((name) => name.endsWith('.ndjson'))) return;
    await sleep(50);
  }
}

/** A real Tintype on one data folder that is killed and restarted, and helpers to inspect what a kill leaves. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDatabase, type Database } from '../../../runtime/db/client.ts';
import type { FailpointName } from '../../../runtime/platform/failpoint.ts';
import { isProcessAlive } from '../../../runtime/platform/is-process-alive.ts';
import {
  makeFolder,
  makeStarted,
  removeFolder,
  runTintype,
  startTintype,
  type Tintype,
} from '../../contract/support/tintype.ts';
import { untilFound } from '../../support/until-found.ts';

export const PROJECT = 'mortal';

export type Mortal = {
  data: string;
  /** Starts Tintype. With a step, it kills itself there. */
  start(step?: FailpointName): Promise<Tintype>;
  /** Runs a scheduled job in a separate process, with `tintype job`. */
  job(words: string[], step?: FailpointName): Promise<{ code: number | null; output: string }>;
  /** Stops everything that still runs, and removes the folder. */
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
  const data = await makeStarted();
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

/** Resolves when SIGKILL has ended the process. Throws if it keeps running or ends otherwise. */
export async function untilKilled(tintype: Tintype, where = 'anywhere'): Promise<void> {
  await untilFound(`killed at ${where}`, () => isOver(tintype)).catch((error: unknown) => {
    throw new Error(`it lives on:\n${tintype.stderr.join('\n')}`, { cause: error });
  });
  const { signalCode, exitCode } = tintype.child;
  if (signalCode !== 'SIGKILL')
    throw new Error(`at ${where} it ended with ${signalCode ?? exitCode}`);
}

/** Stops the PostgreSQL of a killed Tintype, by its pid file. */
export async function stopDatabaseServer(data: string): Promise<void> {
  const pid = await databaseServerPid(data);
  if (pid === undefined) return;
  process.kill(pid, 'SIGINT');
  await untilFound(`${pid} has ended`, async () => (await databaseServerPid(data)) !== pid);
}

/** Returns undefined if PostgreSQL is not running. */
export async function databaseServerPid(data: string): Promise<number | undefined> {
  const file = join(data, 'postgres', 'data', 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 && isProcessAlive(pid) ? pid : undefined;
}

/** Connects to the database of a Tintype while `work` runs. */
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

/** Sets a callback URL, so that every upload causes a webhook. */
export async function giveCallback(tintype: Tintype): Promise<void> {
  await withDatabase(tintype, (db) =>
    db.query(
      `update projects set callback_url = 'https://shop.example/hook', callback_secret_sealed = $2
       where project_slug = $1`,
      [PROJECT, Buffer.alloc(32)],
    ),
  );
}

/** Waits until all spooled usage is in the database. */
export async function untilSpoolIsEmpty(data: string): Promise<void> {
  await untilFound('an empty spool', async () => {
    const names = await readdir(join(data, 'spool'), { recursive: true });
    return names.every((name) => !name.endsWith('.ndjson'));
  });
}

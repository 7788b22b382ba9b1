/**
 * `tintype job NAME [--at TIME]`: one scheduled job now, as if at a time, on the Tintype that runs on this machine.
 * Its doorbells reach nobody from here; the sweep of the running Tintype rings again.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ServiceError } from '../core/errors.ts';
import { createDatabase } from '../db/client.ts';
import { Advice } from '../platform/advice.ts';
import { noCdn } from '../platform/cdn/cdn.ts';
import { systemClock } from '../platform/clock.ts';
import { type Environment, parseConfig } from '../platform/config.ts';
import { killAt } from '../platform/failpoint.ts';
import { createLog } from '../platform/log.ts';
import { createInProcessQueue } from '../platform/queue/in-process.ts';
import { openFolderBuckets, STORAGE_FOLDER } from '../platform/storage/folder-buckets.ts';
import type { Job, JobDeps } from './job.ts';
import { type JobRunResult, runJob } from './run-job.ts';
import { isJobName, jobs } from './table.ts';

/** Statements of a job may take longer than those that somebody waits for. */
const QUERY_TIMEOUT_MS = 120_000;

export async function jobCommand(
  name: string,
  options: { at?: Date; data: string },
  env: Environment,
): Promise<void> {
  if (!isJobName(name)) {
    const names = Object.keys(jobs).join(', ');
    throw new Advice(`there is no job ${name}: name one of ${names}`, { exitCode: 2 });
  }
  const job: Job = jobs[name];
  if (options.at !== undefined && job.clock === 'database') {
    const advice = `${name} goes by the database's clock: leave --at out, it does all that is due now`;
    throw new Advice(advice, { exitCode: 2 });
  }
  const deps = await openDeps(options.data, env);
  try {
    const at = options.at ?? deps.clock.now();
    print(name, at, await runJob(deps, { name, job, at }));
  } catch (error) {
    throw isAway(error) ? new Advice(goneAdvice(options.data), { cause: error }) : error;
  } finally {
    await deps.db.close();
  }
}

function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'storage_unavailable';
}

function goneAdvice(dataFolder: string): string {
  return `the Tintype on ${dataFolder} does not answer: start it with \`make up\``;
}

function print(name: string, at: Date, result: JobRunResult): void {
  if (result.outcome === 'skipped') {
    throw new Advice(`${name} runs already: call it again when that run has ended`);
  }
  if (result.outcome === 'failed') throw result.error;
  const counts = Object.entries(result.counts).map(([what, count]) => `${what} ${count}`);
  process.stdout.write(`${name} as if at ${at.toISOString()}: ${counts.join(', ')}\n`);
}

const instanceSchema = z.object({
  api_url: z.string(),
  database_url: z.string(),
  token_keys: z.string(),
});

async function openDeps(dataFolder: string, env: Environment): Promise<JobDeps> {
  const instance = await findInstance(dataFolder);
  const own = { ...env, TINTYPE_TOKEN_KEYS: instance.token_keys };
  const { logLevel, tokenKeys, failpoint } = parseConfig(own, ['tokenKeys']);
  const log = createLog({
    level: logLevel,
    name: 'job',
    format: process.stderr.isTTY ? 'text' : 'json',
    destination: process.stderr,
  });
  const buckets = await openFolderBuckets({
    folder: join(dataFolder, STORAGE_FOLDER),
    publicUrl: instance.api_url,
    secret: tokenKeys[0]?.key ?? new Uint8Array(),
    clock: systemClock,
  });
  const queryTimeoutMs = QUERY_TIMEOUT_MS;
  const db = createDatabase({ url: instance.database_url, maxConnections: 4, queryTimeoutMs });
  const queue = createInProcessQueue({ log });
  const deps = { db, buckets, queue, cdn: noCdn, clock: systemClock, log };
  return failpoint === undefined ? deps : { ...deps, failpoint: killAt(failpoint) };
}

async function findInstance(dataFolder: string): Promise<z.infer<typeof instanceSchema>> {
  try {
    return instanceSchema.parse(
      JSON.parse(await readFile(join(dataFolder, 'instance.json'), 'utf8')),
    );
  } catch (cause) {
    const advice = `no Tintype runs on ${dataFolder}: start it with \`make up\`, or name its folder with --data`;
    throw new Advice(advice, { cause });
  }
}

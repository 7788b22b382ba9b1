/**
 * `tintype job NAME [--at TIME]`: runs one scheduled job now or as if at a time, together with the runs it missed, on
 * the Tintype that runs on this machine, or else on the installation that the environment names, as a CronJob does.
 * Doorbells of an embedded queue reach no worker from here; the sweep of the running Tintype rings again.
 */
import type { ServiceError } from '../core/errors.ts';
import { isUnavailable } from '../core/outage.ts';
import { isWriteRefused } from '../db/failures.ts';
import { Advice } from '../platform/advice.ts';
import { type Environment, parseConfig } from '../platform/config.ts';
import { omitExternalVariables } from '../platform/external-variables.ts';
import { createLifecycle, type Lifecycle } from '../platform/lifecycle.ts';
import { reasonOf } from '../platform/reason-of.ts';
import { startTracing } from '../platform/tracing/start-tracing.ts';
import { createDatabaseClock } from './database-clock.ts';
import type { JobDeps, ManualJob } from './job.ts';
import { openJobDeps } from './open-job-deps.ts';
import { type JobRunResult, runJob } from './run-job.ts';
import { resolveRunTimes } from './scheduler.ts';
import { jobs, manualJobs } from './table.ts';
import { waitForRunningJob } from './wait-for-running-job.ts';

export async function jobCommand(
  name: string,
  { at: asIfAt, data }: { at?: Date; data: string },
  env: Environment,
): Promise<void> {
  const job = findJob(name);
  if (asIfAt !== undefined && job.clock === 'database') {
    const advice = `${name} uses the database's clock: leave --at out, and it does all that is due now`;
    throw new Advice(advice, { exitCode: 2 });
  }
  const opened = await openJobDeps(data, env);
  const clock = createDatabaseClock(opened.db, opened.clock);
  const deps = { ...opened, clock };
  const { log } = deps;
  const lifecycle = createLifecycle({ log });
  await startTracing(parseConfig(omitExternalVariables(env)), { name: 'job', log, lifecycle });
  const ended = Promise.withResolvers<void>();
  const signal = stopSignal(lifecycle, ended.promise);
  try {
    await clock.compare();
    const times = await resolveRunTimes(deps, { name, job, at: asIfAt });
    await runEach(deps, { name, job, times, signal });
  } catch (error) {
    throw isUnavailable(error) ? adviceOn(error) : error;
  } finally {
    await deps.webhooks?.stop();
    await deps.queue.close();
    await deps.patient?.close();
    await deps.db.close();
    const isTold = signal.aborted;
    ended.resolve();
    await lifecycle.stop();
    // Do not wait for work that ignores the signal, such as a call to a silent storage.
    if (isTold) setTimeout(() => process.exit(), LEFT_ALONE_MS).unref();
  }
}

const LEFT_ALONE_MS = 500;

/**
 * The run ends, and is recorded as ended, before its process, so that the next run need not wait
 * for its lease.
 */
function stopSignal(lifecycle: Lifecycle, ended: Promise<void>): AbortSignal {
  const ending = new AbortController();
  lifecycle.onStop('job', () => {
    ending.abort(
      new Advice('the job was stopped before its end: run it again; what it has done is kept'),
    );
    return ended;
  });
  return ending.signal;
}

type Turn = { name: string; job: ManualJob; at: Date; signal: AbortSignal };

/** A failed run does not stop the others; the first failure is thrown at the end. */
async function runEach(
  deps: JobDeps,
  { times, ...turn }: Omit<Turn, 'at'> & { times: readonly Date[] },
): Promise<void> {
  const failures: unknown[] = [];
  for (const at of times) {
    const result = await runInTurn(deps, { ...turn, at });
    const shouldContinue =
      result.outcome === 'failed' && !isUnavailable(result.error) && !turn.signal.aborted;
    if (shouldContinue) failures.push(result.error);
    else print(turn.name, at, result);
  }
  if (failures.length > 0) throw failures[0];
}

/** Waits for the lease of a killed run to expire, but not for a run that is alive. */
async function runInTurn(deps: JobDeps, turn: Turn): Promise<JobRunResult> {
  const { name, signal } = turn;
  const result = await runJob(deps, turn);
  if (result.outcome !== 'skipped') return result;
  deps.log.info(
    'waiting up to a minute for another run of the job to end, or for its lease to expire',
    {
      job: name,
    },
  );
  const isFree = await waitForRunningJob(deps.db, { job: name, signal });
  signal.throwIfAborted();
  return isFree ? runJob(deps, turn) : result;
}

function findJob(name: string): ManualJob {
  const all: Readonly<Record<string, ManualJob>> = { ...jobs, ...manualJobs };
  const job = Object.hasOwn(all, name) ? all[name] : undefined;
  if (job !== undefined) return job;
  const names = Object.keys(all).join(', ');
  throw new Advice(`there is no job ${name}: name one of ${names}`, { exitCode: 2 });
}

function adviceOn(error: ServiceError): Advice {
  const { cause = error } = error;
  const what = isWriteRefused(cause)
    ? 'the database takes no writes'
    : 'the database or the storage cannot be used';
  return new Advice(`${what} (${reasonOf(cause)}): run \`tintype doctor\`, which says what to do`, {
    cause: error,
  });
}

function print(name: string, at: Date, result: JobRunResult): void {
  if (result.outcome === 'skipped') {
    throw new Advice(`${name} is already running: run it again when that run has ended`);
  }
  if (result.outcome === 'failed') throw result.error;
  const counts = Object.entries(result.counts).map(([what, count]) => `${what} ${count}`);
  process.stdout.write(`${name} as of ${at.toISOString()}: ${counts.join(', ')}\n`);
}

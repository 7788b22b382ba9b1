/**
 * Runs one job for a given time: records the run, renews its lease, and ends it at its deadline. Only one run per job
 * is active across all processes; a run whose process was killed counts as lost when its lease expires.
 */
import { randomUUID } from 'node:crypto';
import {
  insertJobRun,
  type JobRunRow,
  updateJobRunFinished,
  updateJobRunLease,
} from '../db/job-runs.ts';
import type { Metrics } from '../platform/metrics.ts';
import { withTraceContext } from '../platform/trace-context.ts';
import { describeSpan, traced } from '../platform/tracing/spans.ts';
import type { JobContext, JobCounts, JobDeps, ManualJob } from './job.ts';

export type JobRunResult =
  | { outcome: 'done'; counts: JobCounts }
  | { outcome: 'failed'; error: unknown }
  | { outcome: 'skipped' };

export type RunJobOptions = {
  name: string;
  job: ManualJob;
  /** The time for which the job runs. */
  at: Date;
  signal?: AbortSignal;
  metrics?: Metrics;
};

const LEASE_SECONDS = 60;
const HEARTBEAT_MS = 15_000;

/** Runs with a request id of its own, which appears in its log lines and outgoing requests. */
export function runJob(deps: JobDeps, options: RunJobOptions): Promise<JobRunResult> {
  return withTraceContext({ request_id: randomUUID() }, () =>
    traced(`job ${options.name}`, { attributes: { 'tintype.job': options.name } }, () =>
      runAndReport(deps, options),
    ),
  );
}

async function runAndReport(deps: JobDeps, options: RunJobOptions): Promise<JobRunResult> {
  const { name, at } = options;
  const startedAt = performance.now();
  const log = deps.log.child({ job: name });
  const run = await insertJobRun(deps.db, {
    job: name,
    scheduled_for: at,
    lease_seconds: LEASE_SECONDS,
  });
  const result: JobRunResult =
    run === undefined ? { outcome: 'skipped' } : await runRecorded({ ...deps, log }, run, options);
  const seconds = (performance.now() - startedAt) / 1000;
  const metric = { done: 'succeeded', failed: 'failed', skipped: 'skipped' }[result.outcome];
  const counts = result.outcome === 'done' ? result.counts : {};
  options.metrics?.jobRun({ job: name, result: metric, seconds, at: deps.clock.now(), counts });
  describeSpan({ 'tintype.result': result.outcome });
  const isStopped = options.signal?.aborted === true;
  report({ ...deps, log }, { result, at, seconds, isStopped });
  return result;
}

type Reported = { result: JobRunResult; at: Date; seconds: number; isStopped: boolean };

function report({ log }: JobDeps, { result, at, seconds, isStopped }: Reported): void {
  const fields = { at, duration_ms: Math.round(seconds * 1000) };
  if (result.outcome === 'failed' && isStopped)
    log.info('job stopped because its process is stopping', fields);
  else if (result.outcome === 'failed') log.error('job failed', { ...fields, error: result.error });
  else if (result.outcome === 'skipped') log.info('job skipped: it is already running', fields);
  else log[levelOf(result.counts)]('job done', { ...fields, counts: result.counts });
}

/**
 * Several jobs run each minute and mostly find nothing to do, or only samples that say nothing new;
 * at info level they would hide more important lines.
 */
function levelOf(counts: JobCounts): 'debug' | 'info' {
  const isQuiet = Object.entries(counts).every(
    ([what, count]) => count === 0 || ['good', 'unknown'].includes(what),
  );
  return isQuiet ? 'debug' : 'info';
}

async function runRecorded(
  deps: JobDeps,
  run: JobRunRow,
  options: RunJobOptions,
): Promise<JobRunResult> {
  const { run_id } = run;
  try {
    const counts = await runInTime(deps, run, options);
    await updateJobRunFinished(deps.db, { run_id, outcome: 'done', error: null, counts });
    return { outcome: 'done', counts };
  } catch (error) {
    await updateJobRunFinished(deps.db, { run_id, outcome: 'failed', error: String(error) }).catch(
      (cause) => deps.log.warn('the end of a job run was not recorded', { error: cause }),
    );
    return { outcome: 'failed', error };
  }
}

/** A job that ignores its signal is abandoned, because repeating it is safe. */
async function runInTime(
  deps: JobDeps,
  run: JobRunRow,
  { job, at, signal }: RunJobOptions,
): Promise<JobCounts> {
  const ending = new AbortController();
  const end = (reason: unknown) => ending.abort(reason);
  const late = () => end(new Error(`not done after ${job.deadline_seconds} s`));
  const deadline = setTimeout(late, job.deadline_seconds * 1000);
  const heartbeat = setInterval(() => void renewLease(deps, run, end), HEARTBEAT_MS);
  const stop = () => end(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    const context = { ...deps, at, run: String(run.run_id), signal: ending.signal };
    return await Promise.race([job.run(context), abortOf(context)]);
  } finally {
    clearTimeout(deadline);
    clearInterval(heartbeat);
    signal?.removeEventListener('abort', stop);
  }
}

function abortOf({ signal }: JobContext): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

async function renewLease(
  { db, log }: JobDeps,
  { run_id }: JobRunRow,
  end: (reason: unknown) => void,
): Promise<void> {
  try {
    const isOurs = await updateJobRunLease(db, { run_id, lease_seconds: LEASE_SECONDS });
    if (!isOurs) end(new Error('given up as lost: another run may have begun'));
  } catch (error) {
    log.warn('the lease of a job was not renewed', { error });
  }
}

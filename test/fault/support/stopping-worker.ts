/**
 * A worker process that is killed with each of its uploads at a given step. Each attempt stops at its step; once all
 * have stopped, the process kills itself with SIGKILL. An upload without a step is processed completely, and its steps
 * are printed.
 */
import { createDatabase } from '../../../runtime/db/client.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { ingestUpload } from '../../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox } from '../../../runtime/worker/sandbox/sandbox.ts';
import { type Step, watchSteps } from './steps.ts';
import { openStorage, type StorageWords } from './storages.ts';

export type Plan = { upload_id: string; stop_at: Step | null };
export type StoppingWords = { url: string; storage: StorageWords; plan: Plan[] };

/**
 * Longer than any series of kills, so that no worker takes over before the test expires the lease.
 */
const LEASE_SECONDS = 3600;
const { url, storage, plan } = JSON.parse(process.argv[2] ?? '') as StoppingWords;
const log = createLog({ level: 'silent', name: 'stopping-worker' });
const lane = { slots: 1, wall_clock_ms: 60_000, memory_bytes: 2e9, jobs_per_child: 1000 };
const buckets = openStorage(storage);
const sandbox = createSandbox({ ...lane, log });
const db = createDatabase({
  url,
  maxConnections: plan.length + 2,
  idleTransactionTimeoutMs: 600_000,
  connectTimeoutMs: 30_000,
});
/** References the stopped attempts, so that their resources are not garbage-collected. */
const stopped: Promise<never>[] = [];
const standstills = new Map(
  plan.map(({ upload_id }) => [upload_id, Promise.withResolvers<void>()]),
);

const passed: Record<string, Step[]> = {};
for (const { upload_id } of plan) passed[upload_id] = [];
// One after the other, like a slot: an attempt that waits for the decoder behind all others would
// time out.
for (const one of plan) await Promise.race([attempt(one), standstillOf(one)]);
process.stdout.write(`${JSON.stringify(passed)}\n`);
await sandbox.close();
await db.close();

async function attempt({ upload_id, stop_at }: Plan): Promise<void> {
  const watched = watchSteps({ db, buckets }, (step) => {
    passed[upload_id]?.push(step);
    return step === stop_at ? stop(upload_id) : undefined;
  });
  const clock = systemClock;
  const deps = {
    ...watched,
    clock,
    log,
    sandbox,
    ingest_bytes_max: 1e9,
    lease_seconds: LEASE_SECONDS,
  };
  await ingestUpload(deps, upload_id);
  if (stop_at !== null) throw new Error(`${upload_id} never came to ${stop_at}`);
}

/** Stops this attempt forever. The last one to stop kills the process. */
function stop(upload_id: string): Promise<never> {
  const forever = Promise.withResolvers<never>().promise;
  stopped.push(forever);
  if (stopped.length === plan.length) process.kill(process.pid, 'SIGKILL');
  standstills.get(upload_id)?.resolve();
  return forever;
}

function standstillOf({ upload_id }: Plan): Promise<void> | undefined {
  return standstills.get(upload_id)?.promise;
}

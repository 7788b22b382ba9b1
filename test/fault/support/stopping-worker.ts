/**
 * A worker process that is killed with each of its uploads at a given step. An upload without a step is processed
 * completely, and its steps are printed.
 */
import { createDatabase } from '../../../runtime/db/client.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { ingestUpload } from '../../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox } from '../../../runtime/worker/sandbox/sandbox.ts';
import { isDecoding, killTogether, type Plan } from './killed-together.ts';
import { type Step, watchSteps } from './steps.ts';
import { openStorage, type StorageWords } from './storages.ts';

export type StoppingWords = { url: string; storage: StorageWords; plan: Plan[] };

/**
 * Longer than any series of kills, so that no worker takes over before the test expires the lease.
 */
const LEASE_SECONDS = 3600;
const { url, storage, plan } = JSON.parse(process.argv[2] ?? '') as StoppingWords;
const log = createLog({ level: 'silent', name: 'stopping-worker' });
/** Those that are killed while they decode need a decoder each. */
const slots = Math.max(1, plan.filter(isDecoding).length);
const lane = { slots, wall_clock_ms: 60_000, memory_bytes: 2e9, jobs_per_child: 1000 };
const buckets = openStorage(storage);
const sandbox = createSandbox({ ...lane, log });
const db = createDatabase({
  url,
  maxConnections: plan.length + 2,
  idleTransactionTimeoutMs: 600_000,
  connectTimeoutMs: 30_000,
});
const together = killTogether(plan);

const passed: Record<string, Step[]> = {};
for (const { upload_id } of plan) passed[upload_id] = [];
const attempts: Promise<void>[] = [];
// One after the other, like a slot: an attempt that waits for the decoder behind all others would
// time out.
for (const one of plan) {
  const running = attempt(one);
  attempts.push(running);
  await Promise.race([running, together.arrival(one)]);
}
await Promise.all(attempts);
process.stdout.write(`${JSON.stringify(passed)}\n`);
await sandbox.close();
await db.close();

async function attempt(one: Plan): Promise<void> {
  const { upload_id, stop_at } = one;
  const watched = watchSteps(
    { db, buckets },
    (step) => {
      passed[upload_id]?.push(step);
      return together.onStep(one, step);
    },
    (step) => together.onCall(one, step),
  );
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

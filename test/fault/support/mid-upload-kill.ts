/** Kills the worker of one upload at a step, in the middle of a history of calls. */
import type { Database } from '../../../runtime/db/client.ts';
import { named, untilAlone } from './ingest-kills.ts';
import { startProgram } from './spawned.ts';
import type { Step } from './steps.ts';
import type { StoppingWords } from './stopping-worker.ts';
import type { StorageWords } from './storages.ts';

export type Stage = { db: Database; url: string; words: StorageWords };

/** The state of the upload after a kill at each step. */
export const KILLED_AT = {
  'after update uploads 1': 'processing',
  'after ingest.verified 1': 'processing',
  'after tx insert into files 1': 'processing',
  'after commit 1': 'ready',
  'after ingest.delete 1': 'ready',
} as const satisfies Record<Step, 'processing' | 'ready'>;

/** Also expires the upload's lease. */
export async function killWorkerAt(
  { db, url, words }: Stage,
  { upload_id, step }: { upload_id: string; step: Step },
): Promise<void> {
  const plan = [{ upload_id, stop_at: step }];
  const stopping: StoppingWords = { url: named(url), storage: words, plan };
  const { signal } = await startProgram('stopping-worker', stopping).ended;
  if (signal !== 'SIGKILL') throw new Error(`not killed ${step}`);
  await untilAlone({ db });
  await db.query(
    `update uploads set lease_until = now() - make_interval(secs => 1)
     where upload_id = $1 and status = 'processing'`,
    [upload_id],
  );
}

/**
 * Seals every sealed value anew that is not under the first of TINTYPE_KEY_ENCRYPTION_KEYS, while the service runs, and
 * counts what is still under other keys: a key with none can be removed. Called by hand, when a key is replaced.
 */
import {
  countSealedUnder,
  listSealingKeys,
  type ResealBatch,
  resealBatch,
  type SealedColumn,
  type SealedValue,
  sealedColumns,
} from '../db/sealed-values.ts';
import { Advice } from '../platform/advice.ts';
import type { Sealing } from '../platform/sealing.ts';
import { sealedContexts } from '../platform/sealing-contexts.ts';
import type { JobContext, JobCounts } from './job.ts';

/** Few, because others wait for the locks of a batch. */
const ROWS_AT_ONCE = 100;

/** The counts: `resealed`, and `still_under_<id>` for each old key of the configuration or database. */
export async function reseal(context: JobContext): Promise<JobCounts> {
  const { sealing } = context;
  if (sealing === undefined) {
    throw new Advice(
      'values are sealed anew under the first of TINTYPE_KEY_ENCRYPTION_KEYS: set it, as the API has it',
    );
  }
  const [newest, ...old] = sealing.keyIds;
  let resealed = 0;
  for (const place of sealedColumns) {
    for (const key_id of old)
      resealed += await resealColumn({ ...context, sealing }, place, key_id);
  }
  const left = await countLeft(context, new Set([...old, ...(await listOthers(context, newest))]));
  return { resealed, ...left };
}

type Resealing = JobContext & { sealing: Sealing };

/**
 * First all values whose rows nobody is writing, then the others, each by itself: nobody waits for
 * a batch that waits.
 */
async function resealColumn(
  context: Resealing,
  place: SealedColumn,
  key_id: string,
): Promise<number> {
  const many = { key_id, rows_at_once: ROWS_AT_ONCE, locked: 'skip' } as const;
  const one = { key_id, rows_at_once: 1, locked: 'wait' } as const;
  return (await resealAll(context, place, many)) + (await resealAll(context, place, one));
}

async function resealAll(
  { db, signal, log, sealing }: Resealing,
  place: SealedColumn,
  batch: Pick<ResealBatch, 'key_id' | 'rows_at_once' | 'locked'>,
): Promise<number> {
  const context = sealedContexts[place.table];
  const renew = ({ owner, sealed }: SealedValue) => {
    try {
      return sealing.seal(sealing.open(sealed, context(owner)), context(owner));
    } catch (error) {
      // Once, in the second pass.
      if (batch.locked === 'wait')
        log.error('a sealed value cannot be decrypted, and stays as it is', {
          ...{ name: `${place.table}.${place.column} of ${owner}`, key_id: batch.key_id, error },
        });
      return undefined;
    }
  };
  let resealed = 0;
  for (let after: SealedValue | undefined; ; ) {
    signal.throwIfAborted();
    const done = await resealBatch(db, place, { ...batch, after, reseal: renew });
    if (done === undefined) return resealed;
    resealed += done.resealed;
    after = done.last;
  }
}

/** Keys in the database other than the newest. */
async function listOthers({ db }: JobContext, newest: string): Promise<string[]> {
  const found: string[] = [];
  for (const place of sealedColumns) {
    for (const { key_id } of await listSealingKeys(db, place)) found.push(key_id);
  }
  return found.filter((key_id) => key_id !== newest);
}

async function countLeft(
  { db, log }: JobContext,
  keyIds: ReadonlySet<string>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const key_id of keyIds) {
    const count = await countSealedUnder(db, key_id);
    counts[`still_under_${key_id}`] = count;
    if (count > 0)
      log.warn('values are still sealed under an older key: do not remove it', { key_id, count });
  }
  return counts;
}

/**
 * Staff reviews of the scanner's checks, with their consequences for the file, in one transaction under the lock of its
 * project. A decision concerns the scanned image: if another revision has replaced it, a rejection blocks nothing, and
 * an approval unblocks only a file that is in no queue any more. Spec: Staff, checks; States and transitions, File.
 */
import { ServiceError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { ReviewDecision } from '../core/states.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { type FileRow, lockFile } from '../db/files.ts';
import {
  type CheckRow,
  findCheck,
  insertReview,
  listChecksToApprove,
} from '../db/scanner-checks.ts';
import { blockFile, unblockFile } from './block-file.ts';
import { liftApprovedBlock } from './lift-approved-block.ts';

type Decided = { note: string | null; reviewer: string; actor: Actor; now: Date };

export type Review = Decided & { check_id: string; decision: ReviewDecision };

/** Returns the check's current row. Throws not_found and check_not_flagged. */
export async function reviewCheck(tx: Transaction, review: Review): Promise<CheckRow> {
  const { check_id, decision, actor } = review;
  const found = await findCheck(tx, check_id);
  const file = found && (await lockFile(tx, found.file_id));
  // Read again under the lock: somebody may have decided first, or a scan may have ended.
  const check = file && (await findCheck(tx, check_id));
  if (check === undefined || file === undefined) throw new ServiceError('not_found');
  if (check.status !== 'flagged') throw new ServiceError('check_not_flagged');
  const reviewed = await writeReview(tx, check, review);
  const { file_id } = file;
  const isCurrent = file.revision === check.revision;
  if (decision === 'rejected' && isCurrent && file.status === 'ready')
    await blockFile(tx, {
      file_id,
      blocked_by: 'staff',
      reason: check.flags.join(', '),
      actor,
    });
  if (decision === 'approved') {
    const ready =
      isCurrent && isBlockedByScanner(file)
        ? await unblockFile(tx, { file_id, actor })
        : await liftApprovedBlock(tx, { file, actor });
    if (ready) await approveChecks(tx, { ...review, file_id: ready.file_id });
  }
  return reviewed;
}

/**
 * Approves what the scanner flagged in a file, and the pending check of its current image, because
 * whoever unblocks the file has seen it.
 */
export async function approveChecks(
  tx: Transaction,
  { file_id, ...decided }: Decided & { file_id: string },
): Promise<void> {
  for (const check_id of await listChecksToApprove(tx, file_id)) {
    const check = await findCheck(tx, check_id);
    if (check) await writeReview(tx, check, { ...decided, check_id, decision: 'approved' });
  }
}

async function writeReview(
  tx: Transaction,
  { check_id, project_id, review: before }: CheckRow,
  { decision, note, reviewer, actor, now }: Review,
): Promise<CheckRow> {
  const review_id = newId('rvw', now.getTime());
  const reviewed = await insertReview(tx, { review_id, check_id, decision, note, reviewer });
  await insertAuditEntry(tx, {
    project_id,
    ...actor,
    action: 'check.review',
    target: check_id,
    before: { review: before },
    after: { review: decision, note },
  });
  return reviewed;
}

function isBlockedByScanner({ status, blocked_by }: FileRow): boolean {
  return status === 'blocked' && blocked_by === 'scanner';
}

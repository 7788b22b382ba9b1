/**
 * Writes the result of a scan once, with its consequences for the file, in one transaction under the lock of its
 * project. If nudity is flagged, the scanner blocks the file, provided that the project wants this, the image is still
 * current, and staff have not approved it meanwhile. If the image is clear, a block that staff approved earlier may
 * end. Spec: States and transitions, File.
 */
import { NUDITY, raisedFlags, type Scores } from '../core/scan-flags.ts';
import type { Transaction } from '../db/client.ts';
import { lockFile } from '../db/files.ts';
import { findProject } from '../db/projects.ts';
import { type ClaimedCheck, updateCheckScanned } from '../db/scan-claims.ts';
import { blockFile } from './block-file.ts';
import { liftApprovedBlock } from './lift-approved-block.ts';

export type ScanResult = {
  check: ClaimedCheck;
  /** Null: the image could not be scanned. */
  scores: Scores | null;
  thresholds: Scores;
};

/** `late`: another scan of it has begun or ended since, so this result is dropped. */
export async function recordScanResult(
  tx: Transaction,
  { check, scores, thresholds }: ScanResult,
): Promise<'clear' | 'flagged' | 'failed' | 'late'> {
  const { file_id, project_id } = check;
  const file = await lockFile(tx, file_id);
  const flags = raisedFlags(scores ?? {}, thresholds);
  const status = scores === null ? 'failed' : flags.length > 0 ? 'flagged' : 'clear';
  const scanned = await updateCheckScanned(tx, { ...check, status, flags, scores: scores ?? {} });
  if (scanned === undefined) return 'late';
  const actor = { actor_kind: 'system', actor_id: 'scanner' } as const;
  const isToBlock = flags.includes(NUDITY) && scanned.review !== 'approved';
  const project = isToBlock ? await findProject(tx, project_id) : undefined;
  if (project?.nudity_auto_block === true && file?.revision === check.revision)
    await blockFile(tx, { file_id, blocked_by: 'scanner', reason: NUDITY, actor });
  if (status === 'clear' && file !== undefined) await liftApprovedBlock(tx, { file, actor });
  return status;
}

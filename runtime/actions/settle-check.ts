/**
 * What a scan found, written once, with what follows for the file, in one transaction under the lock of its project: where
 * nudity is flagged, the project wants it so and the picture is still the file's, the scanner blocks it.
 * Spec: States and transitions, File.
 */
import { NUDITY, raisedFlags, type Scores } from '../core/scan-flags.ts';
import type { Transaction } from '../db/client.ts';
import { lockFile } from '../db/files.ts';
import { findProject } from '../db/projects.ts';
import { type ClaimedCheck, updateCheckScanned } from '../db/scan-claims.ts';
import { blockFile } from './block-file.ts';

export type ScanResult = {
  check: ClaimedCheck;
  /** Null: it could not be looked at. */
  scores: Scores | null;
  thresholds: Scores;
};

/** `late`: another scan of it has begun or ended since, and this one counts for nothing. */
export async function settleCheck(
  tx: Transaction,
  { check, scores, thresholds }: ScanResult,
): Promise<'clear' | 'flagged' | 'failed' | 'late'> {
  const { file_id, project_id } = check;
  const file = await lockFile(tx, file_id);
  const flags = raisedFlags(scores ?? {}, thresholds);
  const status = scores === null ? 'failed' : flags.length > 0 ? 'flagged' : 'clear';
  const isOurs = await updateCheckScanned(tx, { ...check, status, flags, scores: scores ?? {} });
  if (!isOurs) return 'late';
  const project = flags.includes(NUDITY) ? await findProject(tx, project_id) : undefined;
  if (project?.nudity_auto_block === true && file?.revision === check.revision) {
    const actor = { actor_kind: 'system', actor_id: 'scanner' } as const;
    await blockFile(tx, { file_id, blocked_by: 'scanner', reason: NUDITY, actor });
  }
  return status;
}

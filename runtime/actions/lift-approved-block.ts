/**
 * Ends a scanner's block once staff have approved the image it was made for, under any revision of the slug, and the
 * current image is clear. A clear check is in no queue, so nobody would be asked again. If the blocked file is deleted,
 * the next file with its slug starts unblocked. Spec: States and transitions, File.
 */
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import type { FileRow } from '../db/files.ts';
import { findApprovedBlock } from '../db/scanner-checks.ts';
import { clearBlocks, unblockFile } from './block-file.ts';

/** `file`: any file with the slug, read under its project's lock. Returns the file served again. */
export async function liftApprovedBlock(
  tx: Transaction,
  { file, actor }: { file: FileRow; actor: Actor },
): Promise<FileRow | undefined> {
  if (file.status === 'ready') return undefined;
  const blocked = await findApprovedBlock(tx, file);
  if (blocked?.status === 'blocked') return unblockFile(tx, { file_id: blocked.file_id, actor });
  if (blocked) await clearBlocks(tx, { file_ids: [blocked.file_id], actor });
  return undefined;
}

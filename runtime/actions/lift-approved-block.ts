/**
 * Ends a block of the scanner's once staff approved what it was made for, under whatever revision of the slug, and the
 * picture that stands there now is clear: such a check is in no queue, so nobody would be asked again. Of a deleted file
 * the next one of its slug starts without it. Spec: States and transitions, File.
 */
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import type { FileRow } from '../db/files.ts';
import { findApprovedBlock } from '../db/scanner-checks.ts';
import { forgetBlocks, unblockFile } from './block-file.ts';

/** `file`: any of the slug, as its project's lock found it. Returns what is served again. */
export async function liftApprovedBlock(
  tx: Transaction,
  { file, actor }: { file: FileRow; actor: Actor },
): Promise<FileRow | undefined> {
  if (file.status === 'ready') return undefined;
  const blocked = await findApprovedBlock(tx, file);
  if (blocked?.status === 'blocked') return unblockFile(tx, { file_id: blocked.file_id, actor });
  if (blocked) await forgetBlocks(tx, { file_ids: [blocked.file_id], actor });
  return undefined;
}

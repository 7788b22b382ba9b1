/**
 * Blocks and unblocks a file, with all consequences, in the transaction of whoever decides: staff, the scanner, or a
 * review. A file already in the wanted state is not changed and no event is sent; only staff take over a block, from
 * the scanner or with a new reason.
 * Spec: States and transitions, File; Event kinds, file.blocked, file.unblocked.
 */
import { printDeliveryId, type WebhookCause } from '../core/events.ts';
import { BLOCK_REASON_LENGTH_MAX } from '../core/limits.ts';
import { cleanText } from '../core/text.ts';
import {
  type Actor,
  insertAuditEntries,
  insertAuditEntry,
  type NewAuditEntry,
} from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import {
  type FileRow,
  findFileById,
  lockFile,
  type UnblockedFile,
  updateFileBlocked,
  updateFileBlockedByStaff,
  updateFilesUnblocked,
} from '../db/files.ts';
import { updateBlocksCleared } from '../db/scanner-checks.ts';
import { purgeFiles } from './purge.ts';
import { recordWebhook, recordWebhooks } from './record-webhook.ts';
import { removeFileReferences } from './remove-file-references.ts';

export type Block = {
  file_id: string;
  blocked_by: 'scanner' | 'staff';
  /** Normalized and truncated here. */
  reason: string;
  actor: Actor;
};

/** Returns the file's current row; undefined if it does not exist or is deleted. */
export async function blockFile(tx: Transaction, block: Block): Promise<FileRow | undefined> {
  const file = await lockFile(tx, block.file_id);
  if (file === undefined || file.status === 'deleted') return undefined;
  const reason = cleanText(block.reason, BLOCK_REASON_LENGTH_MAX) ?? '';
  if (file.status === 'blocked') return takeOver(tx, file, { ...block, reason });
  const { file_id, blocked_by, actor } = block;
  const blocked = await updateFileBlocked(tx, { file_id, blocked_by, reason });
  if (blocked === undefined) throw new Error(`${file_id} is locked, ready, and was not blocked`);
  const watermark_preset_ids = await removeFileReferences(tx, blocked, {
    reason: 'file_blocked',
    actor,
  });
  await recordWebhook(tx, blockedEvent(blocked));
  const after = { file_slug: file.file_slug, blocked_by, reason, watermark_preset_ids };
  await audit(tx, blocked, { actor, action: 'file.block', after });
  return blocked;
}

/** `note` is kept in the audit log. */
type Unblocking = { actor: Actor; note?: string | null };
export type Unblock = Unblocking & { file_id: string };
type Unblocks = Unblocking & { project_id: string; file_ids: readonly string[] };

/** Returns the file's current row; undefined if it does not exist or is deleted. */
export async function unblockFile(tx: Transaction, unblock: Unblock): Promise<FileRow | undefined> {
  const { file_id } = unblock;
  const file = await lockFile(tx, file_id);
  if (file === undefined || file.status === 'deleted') return undefined;
  await unblockFiles(tx, { ...unblock, project_id: file.project_id, file_ids: [file_id] });
  return findFileById(tx, file_id);
}

/**
 * Unblocks files of one project, whose row is locked. All writers of the project wait meanwhile, so
 * each kind of row is written in one statement.
 */
export async function unblockFiles(
  tx: Transaction,
  { project_id, file_ids, actor, note }: Unblocks,
): Promise<void> {
  const files = await updateFilesUnblocked(tx, file_ids);
  if (files.length === 0) return;
  await purgeFiles(tx, { project_id, files, reason: 'file_unblocked' });
  await recordWebhooks(tx, files.map(unblockedEvent));
  const after = note ? { note } : undefined;
  await insertAuditEntries(
    tx,
    files.map(({ file_id: target, blocked_by, blocked_reason: reason }) => {
      const change = { action: 'file.unblock', before: { blocked_by, reason }, after };
      return { project_id, ...actor, target, ...change };
    }),
  );
}

/**
 * Removes the blocks of deleted files, which the next files with their slugs would inherit. No
 * event is sent, because the files are not served again. The project's row is locked, so this takes
 * two statements for all files.
 */
export async function clearBlocks(
  tx: Transaction,
  { file_ids, actor }: { file_ids: readonly string[]; actor: Actor },
): Promise<void> {
  if (file_ids.length === 0) return;
  const forgotten = await updateBlocksCleared(tx, file_ids);
  await insertAuditEntries(
    tx,
    forgotten.map(({ project_id, file_id: target, blocked_by, blocked_reason: reason }) => {
      const change = { action: 'file.unblock', before: { blocked_by, reason } };
      return { project_id, ...actor, target, ...change, after: { status: 'deleted' } };
    }),
  );
}

/** Sends no event: the file was already blocked. */
async function takeOver(
  tx: Transaction,
  file: FileRow,
  { blocked_by, reason, actor }: Block,
): Promise<FileRow> {
  if (blocked_by === 'scanner') return file;
  const taken = await updateFileBlockedByStaff(tx, { file_id: file.file_id, reason });
  if (taken === undefined) return file;
  const before = { blocked_by: file.blocked_by, reason: file.blocked_reason };
  const after = { file_slug: file.file_slug, blocked_by, reason };
  await audit(tx, taken, { actor, action: 'file.block', before, after });
  return taken;
}

type AuditedChange = Pick<NewAuditEntry, 'action' | 'before' | 'after'> & { actor: Actor };

async function audit(
  tx: Transaction,
  file: FileRow,
  { actor, ...change }: AuditedChange,
): Promise<void> {
  const { project_id, file_id } = file;
  await insertAuditEntry(tx, { project_id, ...actor, target: file_id, ...change });
}

type FileEvent = Extract<WebhookCause, { event: 'file.blocked' | 'file.unblocked' }>;

function blockedEvent(file: FileRow): FileEvent {
  const event = 'file.blocked';
  const data = { ...factsOf(file), reason: file.blocked_reason ?? '' };
  return { id: printDeliveryId(event, data, file.block_count), event, data };
}

function unblockedEvent(file: UnblockedFile): FileEvent {
  const event = 'file.unblocked';
  const data = factsOf(file);
  return { id: printDeliveryId(event, data, file.unblock_count), event, data };
}

function factsOf({ project_id, file_id, file_slug, revision }: UnblockedFile) {
  return { project_id, file_id, file_slug, revision };
}

/**
 * What follows where the scanner's switch of a project goes off: its blocks go with it, also those that wait for the
 * next file of a slug; what staff rejected stays. The checks still wait for somebody to look.
 * Spec: Staff, projects (nudity_auto_block).
 */
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import type { ProjectRow } from '../db/projects.ts';
import { listUnreviewedBlocks } from '../db/scanner-checks.ts';
import { forgetBlocks, unblockFile } from './block-file.ts';

type Switch = {
  /** As it was, locked by the transaction. */
  project: Pick<ProjectRow, 'project_id' | 'nudity_auto_block'>;
  nudity_auto_block: boolean | undefined;
  actor: Actor;
};

export async function switchAutoBlock(
  tx: Transaction,
  { project, nudity_auto_block, actor }: Switch,
): Promise<void> {
  if (!project.nudity_auto_block || nudity_auto_block !== false) return;
  const blocked = await listUnreviewedBlocks(tx, project.project_id);
  const isDeleted = ({ status }: (typeof blocked)[number]) => status === 'deleted';
  const file_ids = blocked.filter(isDeleted).map(({ file_id }) => file_id);
  await forgetBlocks(tx, { file_ids, actor });
  for (const file of blocked) {
    if (!isDeleted(file)) await unblockFile(tx, { file_id: file.file_id, actor });
  }
}

/**
 * What follows where the scanner's switch of a project goes off: its blocks go with it, also those that wait for the
 * next file of a slug; what staff rejected stays. The checks still wait for somebody to look.
 * Spec: Staff, projects (nudity_auto_block).
 */
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import type { ProjectRow } from '../db/projects.ts';
import { listUnreviewedBlocks } from '../db/scanner-checks.ts';
import { forgetBlock, unblockFile } from './block-file.ts';

type Switch = {
  /** As it was, locked by the transaction. */
  project: Pick<ProjectRow, 'project_id' | 'nudity_auto_block'>;
  nudity_auto_block: boolean | undefined;
  actor: Actor;
  now: Date;
};

export async function switchAutoBlock(
  tx: Transaction,
  { project, nudity_auto_block, actor, now }: Switch,
): Promise<void> {
  if (!project.nudity_auto_block || nudity_auto_block !== false) return;
  for (const { file_id, status } of await listUnreviewedBlocks(tx, project.project_id)) {
    if (status === 'deleted') await forgetBlock(tx, { file_id, actor });
    else await unblockFile(tx, { file_id, actor, now });
  }
}

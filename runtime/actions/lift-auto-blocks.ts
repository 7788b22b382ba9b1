/**
 * Turning a project's auto-block off removes the scanner's blocks, including those that wait for the next file with a
 * slug; files that staff rejected stay blocked. The checks remain open for review.
 * Spec: Staff, projects (nudity_auto_block).
 */
import { inChunks } from '../core/in-chunks.ts';
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import type { ProjectRow } from '../db/projects.ts';
import { listUnreviewedBlocks } from '../db/scanner-checks.ts';
import { clearBlocks, unblockFiles } from './block-file.ts';

/** Files per statement, so that each one ends within its time, however many files there are. */
const UNBLOCKED_AT_ONCE = 1_000;

type Switch = {
  /** The project before the change, locked by the transaction. */
  project: Pick<ProjectRow, 'project_id' | 'nudity_auto_block'>;
  nudity_auto_block: boolean | undefined;
  actor: Actor;
};

export async function liftAutoBlocks(
  tx: Transaction,
  { project, nudity_auto_block, actor }: Switch,
): Promise<void> {
  if (!project.nudity_auto_block || nudity_auto_block !== false) return;
  const blocked = await listUnreviewedBlocks(tx, project.project_id);
  const idsOf = (files: typeof blocked) => files.map(({ file_id }) => file_id);
  const deleted = idsOf(blocked.filter(({ status }) => status === 'deleted'));
  const live = idsOf(blocked.filter(({ status }) => status !== 'deleted'));
  for (const file_ids of inChunks(deleted, UNBLOCKED_AT_ONCE))
    await clearBlocks(tx, { file_ids, actor });
  for (const file_ids of inChunks(live, UNBLOCKED_AT_ONCE))
    await unblockFiles(tx, { project_id: project.project_id, file_ids, actor });
}

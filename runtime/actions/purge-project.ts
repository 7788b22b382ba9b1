/**
 * Forgets every cached image of a project: its derived objects by a new generation, the CDN's copies by purge
 * rows, sent now and again when nothing from before can refill an edge. Spec: Caching and response headers.
 */
import { LOOKUP_CACHE_SECONDS_MAX, RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import type { Transaction } from '../db/client.ts';
import { updateProjectGeneration } from '../db/projects.ts';
import { insertPurge } from '../db/purges.ts';

export const PURGE_REPEAT_SECONDS = LOOKUP_CACHE_SECONDS_MAX + RENDER_DEADLINE_SECONDS;

export async function purgeProject(
  tx: Transaction,
  { project_id, reason }: { project_id: string; reason: string },
): Promise<void> {
  await updateProjectGeneration(tx, project_id);
  await insertPurge(tx, {
    project_id,
    file_slug: null,
    reason,
    repeat_after_seconds: PURGE_REPEAT_SECONDS,
  });
}

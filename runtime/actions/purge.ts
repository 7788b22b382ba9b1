/**
 * Forgets cached images, in the transaction of the change: all of a project's by a new generation of its derived
 * objects, the CDN's copies by purge rows, sent now and again when nothing from before can refill an edge.
 * Spec: Caching and response headers.
 */
import { LOOKUP_CACHE_SECONDS_MAX, RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import type { Transaction } from '../db/client.ts';
import { updateProjectGeneration } from '../db/projects.ts';
import { insertPurge } from '../db/purges.ts';

/** How long an edge can still be refilled with what was. */
const REPEAT_SECONDS = LOOKUP_CACHE_SECONDS_MAX + RENDER_DEADLINE_SECONDS;

/** `left_domains`: custom domains that it had until now. */
type PurgedProject = { project_id: string; reason: string; left_domains?: string[] };

export async function purgeProject(
  tx: Transaction,
  { project_id, reason, left_domains }: PurgedProject,
): Promise<void> {
  await updateProjectGeneration(tx, project_id);
  await insertPurge(tx, {
    project_id,
    file: null,
    reason,
    left_domains,
    repeat_after_seconds: REPEAT_SECONDS,
  });
}

export type PurgedFile = { project_id: string; file_id: string; file_slug: string };

/** Its derived objects are keyed by its revision; only the CDN has to be told. */
export async function purgeFile(
  tx: Transaction,
  { project_id, file_id, file_slug }: PurgedFile,
  reason: string,
): Promise<void> {
  const file = { file_id, file_slug };
  await insertPurge(tx, { project_id, file, reason, repeat_after_seconds: REPEAT_SECONDS });
}

/**
 * Purges cached images, in the transaction of the change: all of a project's by a new generation of its derived
 * objects, and the CDN's copies by purge rows. These are sent twice: now, and again once no stale answer can refill an
 * edge.
 * Spec: Caching and response headers.
 */
import { LOOKUP_CACHE_SECONDS_MAX, RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import type { Transaction } from '../db/client.ts';
import { updateProjectGeneration } from '../db/projects.ts';
import { insertPurges } from '../db/purges.ts';

/** How long an edge can still be refilled with stale content. */
const REPEAT_SECONDS = LOOKUP_CACHE_SECONDS_MAX + RENDER_DEADLINE_SECONDS;

/** `left_domains`: custom domains that the project has just lost. */
type PurgedProject = { project_id: string; reason: string; left_domains?: string[] };

export async function purgeProject(
  tx: Transaction,
  { project_id, reason, left_domains }: PurgedProject,
): Promise<void> {
  await updateProjectGeneration(tx, project_id);
  await insertPurges(tx, {
    project_id,
    files: null,
    reason,
    left_domains,
    repeat_after_seconds: REPEAT_SECONDS,
  });
}

export type PurgedFile = { project_id: string; file_id: string; file_slug: string };

/** Derived objects are keyed by revision, so only the CDN must be purged. */
export async function purgeFile(tx: Transaction, file: PurgedFile, reason: string): Promise<void> {
  const { project_id } = file;
  await purgeFiles(tx, { project_id, files: [file], reason });
}

type PurgedFiles = { project_id: string; files: readonly PurgedFile[]; reason: string };

export async function purgeFiles(tx: Transaction, purged: PurgedFiles): Promise<void> {
  await insertPurges(tx, { ...purged, repeat_after_seconds: REPEAT_SECONDS });
}

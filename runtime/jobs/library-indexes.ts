/**
 * Builds the missing or invalid indexes of libraries while the service runs, without blocking writes. Called by hand,
 * once per installation. Spec: Limits, unindexed-project threshold.
 */
import { buildLibraryIndex, LIBRARY_INDEXES } from '../db/library-indexes.ts';
import type { JobContext, JobCounts } from './job.ts';

export async function libraryIndexes(context: JobContext): Promise<JobCounts> {
  const { db, patient = db, signal, log } = context;
  const counts = { built: 0, there: 0 };
  for (const name of Object.keys(LIBRARY_INDEXES)) {
    signal.throwIfAborted();
    const outcome = await buildLibraryIndex(patient, name);
    counts[outcome] += 1;
    log.info('an index of the libraries was checked', { name, reason: outcome });
  }
  // Also collects statistics on the indexed expressions, by which the planner chooses an index.
  if (counts.built > 0) await patient.query('analyze files');
  return counts;
}

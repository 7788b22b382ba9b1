/**
 * Builds the indexes of libraries behind the running service, those that are missing or were broken off. Nobody is
 * kept from writing meanwhile. Called by hand, once an installation. Spec: Limits, unindexed-project threshold.
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
    log.info('an index of libraries was looked at', { name, reason: outcome });
  }
  // Their expressions are counted too, by which the planner chooses among them.
  if (counts.built > 0) await patient.query('analyze files');
  return counts;
}

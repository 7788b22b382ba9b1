/**
 * Sends purges to the CDN when they are due. Each change has two of them, at once and after every old lookup and
 * render has ended, because an edge can be refilled in between. Spec: Caching and response headers.
 */
import { claimPurges, type PurgeRow, updatePurgeFailed, updatePurgeSent } from '../db/purges.ts';
import type { JobContext, JobCounts } from './job.ts';

const PAGE = 100;
const LEASE_SECONDS = 60;
const RETRY_SECONDS_FIRST = 5;
const RETRY_SECONDS_MAX = 300;

export async function purgeQueue(context: JobContext): Promise<JobCounts> {
  const counts = { sent: 0, failed: 0 };
  for (;;) {
    context.signal.throwIfAborted();
    const page = await claimPurges(context.db, { limit: PAGE, lease_seconds: LEASE_SECONDS });
    for (const purge of page) counts[await send(context, purge)] += 1;
    if (page.length < PAGE) return counts;
  }
}

async function send({ db, cdn, log }: JobContext, purge: PurgeRow): Promise<'sent' | 'failed'> {
  const { purge_id, project_id } = purge;
  try {
    await cdn.purge(purge);
  } catch (error) {
    log.warn('a purge was not taken by the CDN', { project_id, attempt: purge.attempt, error });
    const delay_seconds = Math.min(
      RETRY_SECONDS_FIRST * 2 ** (purge.attempt - 1),
      RETRY_SECONDS_MAX,
    );
    await updatePurgeFailed(db, { purge_id, error: String(error), delay_seconds });
    return 'failed';
  }
  await updatePurgeSent(db, purge_id);
  return 'sent';
}

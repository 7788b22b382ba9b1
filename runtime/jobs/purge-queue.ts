/**
 * Sends due purges to the CDN, as many per call as it accepts. Each change has two purges: one at once, and one after
 * every older lookup and render has ended, because an edge can be refilled in between.
 * Spec: Caching and response headers.
 */
import {
  claimPurges,
  type FailedPurge,
  type PurgeRow,
  releasePurges,
  updatePurgesFailed,
  updatePurgesSent,
} from '../db/purges.ts';
import type { CdnRefusal } from '../platform/cdn/cdn.ts';
import type { JobContext } from './job.ts';

/** Longer than the calls of one batch take, including waits for a turn. */
const LEASE_SECONDS = 120;
const RETRY_SECONDS_FIRST = 5;
const RETRY_SECONDS_MAX = 300;

export type PurgeContext = Pick<JobContext, 'db' | 'cdn' | 'log' | 'signal'>;
export type PurgeCounts = { sent: number; failed: number };

/**
 * Ends when nothing is due, or when the CDN refuses something: refused purges have a retry time of
 * their own.
 */
export async function purgeQueue(context: PurgeContext): Promise<PurgeCounts> {
  const { db, cdn } = context;
  const counts = { sent: 0, failed: 0 };
  for (;;) {
    context.signal.throwIfAborted();
    const page = await claimPurges(db, { limit: cdn.batch_max, lease_seconds: LEASE_SECONDS });
    if (page.length === 0) return counts;
    const { sent, failed } = await sendPage(context, page);
    counts.sent += sent;
    counts.failed += failed;
    if (failed > 0 || page.length < cdn.batch_max) return counts;
  }
}

async function sendPage(context: PurgeContext, page: readonly PurgeRow[]): Promise<PurgeCounts> {
  const { db, log } = context;
  const refused = await purgeOrRelease(context, page);
  const sent = page.filter((purge) => !refused.has(purge));
  await updatePurgesSent(
    db,
    sent.map(({ purge_id }) => purge_id),
  );
  if (refused.size === 0) return { sent: sent.length, failed: 0 };
  const failed = [...refused].map(([purge, refusal]) => failureOf(purge, refusal));
  await updatePurgesFailed(db, failed);
  for (const error of new Set(refused.values())) {
    const count = [...refused.values()].filter((each) => each === error).length;
    log.warn('purges failed; retrying', { count, error });
  }
  return { sent: sent.length, failed: failed.length };
}

/** A process that ends midway releases its claims, so that the next one sends them at once. */
async function purgeOrRelease({ db, cdn, signal }: PurgeContext, page: readonly PurgeRow[]) {
  try {
    return await cdn.purge(page, signal);
  } catch (error) {
    if (signal.aborted) await releasePurges(db, page);
    throw error;
  }
}

/** Backs off with each attempt, and waits at least as long as the CDN asks. */
function failureOf({ purge_id, attempt }: PurgeRow, refusal: CdnRefusal): FailedPurge {
  const backoff = Math.min(RETRY_SECONDS_FIRST * 2 ** (attempt - 1), RETRY_SECONDS_MAX);
  const asked = refusal.facts.retry_after_seconds ?? 0;
  return { purge_id, error: refusal.message, delay_seconds: Math.max(backoff, asked) };
}

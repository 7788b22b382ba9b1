/**
 * Scans waiting revisions: each is claimed with a lease, scaled down by a render worker, and sent to the scanner. An
 * unavailable scanner is retried with back-off; a revision that it cannot judge fails after some attempts.
 * Spec: File (status), the automatic scanner; Staff, checks.
 */
import { recordScanResult } from '../actions/record-scan-result.ts';
import {
  PREVIEW_DEADLINE_MS,
  previewReplySchema,
  requestPreview,
} from '../core/delivery/preview-request.ts';
import {
  SCAN_ATTEMPTS_MAX,
  SCAN_RETRY_SECONDS_FIRST,
  SCAN_RETRY_SECONDS_MAX,
  SCAN_TIMEOUT_SECONDS,
  SCAN_WAIT_HOURS_MAX,
} from '../core/limits.ts';
import type { Scores } from '../core/scan-flags.ts';
import { type ClaimedCheck, claimChecks, updateCheckDeferred } from '../db/scan-claims.ts';
import { findScannedRevision } from '../db/scanned-revisions.ts';
import { type Scanner, ScannerFault } from '../platform/scanner/scanner.ts';
import type { JobContext } from './job.ts';

export type ScanContext = Pick<JobContext, 'db' | 'queue' | 'clock' | 'log' | 'signal'> & {
  scanner: Scanner;
  thresholds: Scores;
};

export type ScanCounts = Record<'clear' | 'flagged' | 'failed' | 'late' | 'put_off', number>;

const AT_ONCE = 4;
/** Longer than a whole scan takes. */
const LEASE_SECONDS = 2 * (PREVIEW_DEADLINE_MS / 1000 + SCAN_TIMEOUT_SECONDS);
const HOUR_SECONDS = 3600;

/**
 * Ends when nothing is due, or when the scanner is unavailable: each postponed check has its own
 * retry time.
 */
export async function scanChecks(context: ScanContext): Promise<ScanCounts> {
  const counts = { clear: 0, flagged: 0, failed: 0, late: 0, put_off: 0 };
  while (counts.put_off === 0 && !context.scanner.isResting()) {
    context.signal.throwIfAborted();
    const claimed = await claimChecks(context.db, { limit: AT_ONCE, lease_seconds: LEASE_SECONDS });
    if (claimed.length === 0) break;
    for (const result of await Promise.all(claimed.map((check) => scanCheck(context, check))))
      counts[result] += 1;
  }
  return counts;
}

async function scanCheck(context: ScanContext, check: ClaimedCheck): Promise<keyof ScanCounts> {
  const { db, thresholds, signal } = context;
  const settle = (scores: Scores | null) =>
    db.transaction((tx) => recordScanResult(tx, { check, scores, thresholds }));
  let scores: Scores;
  try {
    scores = await findScores(context, check);
  } catch (error) {
    signal.throwIfAborted();
    const isOver = isRefusal(error) && isLast(check);
    report(context, check, { error, isOver });
    return isOver ? settle(null) : deferCheck(context, check, error);
  }
  return settle(scores);
}

async function findScores(
  { db, queue, scanner, signal }: ScanContext,
  check: ClaimedCheck,
): Promise<Scores> {
  const source = await findScannedRevision(db, check);
  if (source === undefined) throw new ScannerFault('refused', 'has no such revision to look at');
  const { rendition } = scanner;
  const request = requestPreview(source, rendition);
  const terms = { deadline_ms: PREVIEW_DEADLINE_MS, signal };
  const reply = previewReplySchema.parse(await queue.call('render', request, terms));
  if (reply.outcome === 'done') return scanner.scan(reply.bytes, signal);
  const why = reply.outcome === 'undrawable' ? reply.reason : reply.outcome;
  // A timeout says nothing about the image.
  const isAway = why === 'unread' || why === 'timeout';
  throw new ScannerFault(isAway ? 'away' : 'refused', `has no picture to look at: ${why}`);
}

/** Faults of storage, queue or scanner may pass; faults of an image stay. */
async function deferCheck(
  { db }: ScanContext,
  { check_id, attempts }: ClaimedCheck,
  error: unknown,
): Promise<keyof ScanCounts> {
  const backoff = Math.min(SCAN_RETRY_SECONDS_FIRST * 2 ** (attempts - 1), SCAN_RETRY_SECONDS_MAX);
  const asked = error instanceof ScannerFault ? error.retry_after_seconds : 0;
  const status = await updateCheckDeferred(db, {
    check_id,
    attempts,
    is_refused: isRefusal(error),
    delay_seconds: Math.max(backoff, Math.min(asked, SCAN_RETRY_SECONDS_MAX)),
    waits_seconds_max: SCAN_WAIT_HOURS_MAX * HOUR_SECONDS,
  });
  if (status === 'failed') return 'failed';
  return status === 'queued' ? 'put_off' : 'late';
}

function isRefusal(error: unknown): boolean {
  return error instanceof ScannerFault && error.kind === 'refused';
}

/** Only refusals count against an image, not attempts during an outage. */
function isLast({ refusals }: ClaimedCheck): boolean {
  return refusals + 1 >= SCAN_ATTEMPTS_MAX;
}

function report(
  { log }: ScanContext,
  { check_id, project_id, attempts }: ClaimedCheck,
  { error, isOver }: { error: unknown; isOver: boolean },
): void {
  const says = isOver ? 'a revision cannot be scanned' : 'a scan is put off';
  log.warn(says, { check_id, project_id, attempt: attempts, error });
}

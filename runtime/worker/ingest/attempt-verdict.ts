/**
 * Decides how a failed attempt ends: a fault of the image fails at once, a timeout after three attempts, anything else
 * after repeated attempts; an outage does not count. Spec: Processing error codes.
 */
import type { ProcessingErrorCode } from '../../core/errors.ts';
import { PROCESSING_ATTEMPTS_MAX, PROCESSING_TIMEOUTS_MAX } from '../../core/limits.ts';
import { isOutage } from '../../core/outage.ts';
import type { RetryCause } from '../../db/upload-processing.ts';
import type { UploadRow } from '../../db/uploads.ts';
import { SandboxFailure, type SandboxFailureReason } from '../sandbox/sandbox-failure.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import { LeaseLost } from './lease.ts';

export type AttemptVerdict =
  | { end: 'drop' }
  | { end: 'fail'; error_code: ProcessingErrorCode }
  | { end: 'retry'; cause: RetryCause; delay_seconds: number };

type Counts = Pick<UploadRow, 'attempt' | 'timeout_count' | 'excused_count'>;

const RETRY_SECONDS_MIN = 2;
const RETRY_SECONDS_MAX = 300;

export function verdictOf(error: unknown, counts: Counts): AttemptVerdict {
  if (error instanceof LeaseLost) return { end: 'drop' };
  if (error instanceof IngestRefusal) return { end: 'fail', error_code: error.code };
  const cause = retryCauseOf(error);
  const error_code = codeAfterLast(cause, error, counts);
  if (error_code !== undefined) return { end: 'fail', error_code };
  const delay = RETRY_SECONDS_MIN ** counts.attempt;
  return { end: 'retry', cause, delay_seconds: Math.min(delay, RETRY_SECONDS_MAX) };
}

/**
 * `processing_abandoned` for an attempt beyond the limit: earlier attempts left no result, so their
 * workers were killed.
 */
export function abandonmentOf(counts: Counts): ProcessingErrorCode | undefined {
  return countedAttempts(counts) > PROCESSING_ATTEMPTS_MAX ? 'processing_abandoned' : undefined;
}

function retryCauseOf(error: unknown): RetryCause {
  if (error instanceof SandboxFailure) return causes[error.reason];
  return isOutage(error) ? 'unavailable' : 'failure';
}

/**
 * A decoder that does not start says nothing about the image. A killed one may have been killed
 * because of the image's cost, so its attempt counts: otherwise the image would be tried forever.
 */
const causes: Readonly<Record<SandboxFailureReason, RetryCause>> = {
  timeout: 'timeout',
  out_of_memory: 'failure',
  crashed: 'failure',
  garbage: 'failure',
  unstarted: 'unavailable',
  killed: 'failure',
};

function codeAfterLast(
  cause: RetryCause,
  error: unknown,
  counts: Counts,
): ProcessingErrorCode | undefined {
  if (cause === 'unavailable') return undefined;
  const timeouts = counts.timeout_count + (cause === 'timeout' ? 1 : 0);
  if (timeouts >= PROCESSING_TIMEOUTS_MAX) return 'processing_timeout';
  if (countedAttempts(counts) < PROCESSING_ATTEMPTS_MAX) return undefined;
  const isTooCostly = error instanceof SandboxFailure && error.reason === 'out_of_memory';
  return isTooCostly ? 'image_too_large' : 'processing_abandoned';
}

function countedAttempts({ attempt, excused_count }: Counts): number {
  return attempt - excused_count;
}

/**
 * How an attempt that threw ends: the image's own fault fails at once, the clock three times, anything
 * else after repeated attempts; an outage is nobody's fault. Spec: Processing error codes.
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

/** An attempt beyond the last: the ones before ended without a word, so their worker was killed. */
export function abandonmentOf(counts: Counts): ProcessingErrorCode | undefined {
  return countedAttempts(counts) > PROCESSING_ATTEMPTS_MAX ? 'processing_abandoned' : undefined;
}

function retryCauseOf(error: unknown): RetryCause {
  if (error instanceof SandboxFailure) return causes[error.reason];
  return isOutage(error) ? 'unavailable' : 'failure';
}

/**
 * A decoder that does not even start says nothing about the picture. One that was killed may have been killed for what
 * the picture costs, so its attempt counts: else that picture would be tried for ever.
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

// Spec: Processing error codes; Limits, Uploads (attempts).
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../runtime/core/errors.ts';
import {
  PROCESSING_ATTEMPTS_MAX,
  PROCESSING_TIMEOUTS_MAX,
} from '../../../../runtime/core/limits.ts';
import { verdictOf } from '../../../../runtime/worker/ingest/attempt-verdict.ts';
import { IngestRefusal } from '../../../../runtime/worker/ingest/ingest-refusal.ts';
import {
  SandboxFailure,
  type SandboxFailureReason,
} from '../../../../runtime/worker/sandbox/sandbox-failure.ts';

const NONE = { attempt: 1, timeout_count: 0, excused_count: 0 };
const LAST = { ...NONE, attempt: PROCESSING_ATTEMPTS_MAX };
const failed = (reason: SandboxFailureReason) => new SandboxFailure(reason, 'as it is tried');

/**
 * The cause of a first attempt's failure, and the error code if it was the last (null: it is
 * retried).
 */
const reasons: readonly (readonly [SandboxFailureReason, cause: string, code: string | null])[] = [
  ['timeout', 'timeout', 'processing_abandoned'],
  ['out_of_memory', 'failure', 'image_too_large'],
  ['crashed', 'failure', 'processing_abandoned'],
  ['garbage', 'failure', 'processing_abandoned'],
  ['killed', 'failure', 'processing_abandoned'],
  ['unstarted', 'unavailable', null],
];

describe('the verdict on a failed processing attempt', () => {
  it.each(reasons)(
    'retries a decoder failure (%s), and on the last attempt fails the upload unless no decoder started',
    (reason, cause, code) => {
      expect(verdictOf(failed(reason), NONE)).toMatchObject({ end: 'retry', cause });
      const last = verdictOf(failed(reason), LAST);
      expect(last).toMatchObject(
        code === null ? { end: 'retry', cause } : { end: 'fail', error_code: code },
      );
    },
  );

  it('keeps retrying while storage or the database is unavailable, even after 100 attempts', () => {
    const often = { ...NONE, attempt: 100 };
    for (const code of ['storage_unavailable', 'query_timeout'] as const) {
      const verdict = verdictOf(new ServiceError(code), often);
      expect(verdict).toMatchObject({ end: 'retry', cause: 'unavailable' });
    }
  });

  it.each([
    [1, 2],
    [2, 4],
    [8, 256],
    [9, 300],
    [100, 300],
  ])('delays the retry after attempt %i by %i seconds', (attempt, delay_seconds) => {
    const away = new ServiceError('storage_unavailable');
    expect(verdictOf(away, { ...NONE, attempt })).toMatchObject({ end: 'retry', delay_seconds });
  });

  it('does not count excused attempts toward the limit', () => {
    const excused = { ...LAST, excused_count: 1 };
    expect(verdictOf(failed('crashed'), excused)).toMatchObject({ end: 'retry' });
  });

  it('fails the upload with processing_timeout on the third timeout', () => {
    const before = { ...NONE, timeout_count: PROCESSING_TIMEOUTS_MAX - 2 };
    expect(verdictOf(failed('timeout'), before)).toMatchObject({ end: 'retry' });
    const third = { ...NONE, timeout_count: PROCESSING_TIMEOUTS_MAX - 1 };
    expect(verdictOf(failed('timeout'), third)).toEqual({
      end: 'fail',
      error_code: 'processing_timeout',
    });
  });

  it('fails the upload immediately with the code of a rejected image', () => {
    const refusal = new IngestRefusal('image_too_large', 'as it is tried');
    expect(verdictOf(refusal, NONE)).toEqual({ end: 'fail', error_code: 'image_too_large' });
  });
});

/**
 * Keeps the lease of a running attempt alive. Its signal aborts when the attempt is known to be over, or, as an outage,
 * when the database has not answered for a whole lease, because another worker may have taken over.
 */
import { ServiceError } from '../../core/errors.ts';
import type { Queryable } from '../../db/client.ts';
import { type Attempt, type LeasedAttempt, updateUploadLease } from '../../db/upload-processing.ts';

export type Lease = { signal: AbortSignal; end(): void };

/** Another attempt has taken over: the result of this one is discarded. */
export class LeaseLost extends Error {
  constructor({ upload_id, attempt }: Attempt) {
    super(`attempt ${attempt} at ${upload_id} is over`);
    this.name = 'LeaseLost';
  }
}

const BEATS_PER_LEASE = 3;

export function renewLease(db: Queryable, leased: LeasedAttempt): Lease {
  const lost = new AbortController();
  const leaseMs = leased.lease_seconds * 1000;
  let heardAt = performance.now();
  const beat = async () => {
    const sentAt = performance.now();
    const isOurs = await updateUploadLease(db, leased).catch(() => undefined);
    if (isOurs === true) heardAt = sentAt;
    const isStale = performance.now() - heardAt >= leaseMs;
    if (isOurs === false) lost.abort(new LeaseLost(leased));
    else if (isStale) lost.abort(new ServiceError('storage_unavailable'));
  };
  const timer = setInterval(() => void beat(), leaseMs / BEATS_PER_LEASE);
  return { signal: lost.signal, end: () => clearInterval(timer) };
}

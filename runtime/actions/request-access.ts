/** Stores access requests, at a limited rate per hour for each e-mail address. Spec: Public, access-requests; Rates. */
import { createHash } from 'node:crypto';
import { ACCESS_REQUESTS_PER_HOUR_PER_EMAIL_MAX } from '../core/limits.ts';
import { rateLimited, rateWindowSeconds } from '../core/rates.ts';
import { insertAccessRequest, type NewAccessRequest } from '../db/access-requests.ts';
import type { Database } from '../db/client.ts';
import { takeFromRateWindow } from '../db/rate-windows.ts';

/** Throws rate_limited. Addresses are counted case-insensitively, and only by hash. */
export async function requestAccess(db: Database, request: NewAccessRequest): Promise<void> {
  const limit = ACCESS_REQUESTS_PER_HOUR_PER_EMAIL_MAX;
  await db.transaction(async (tx) => {
    const { is_allowed, retry_after_seconds } = await takeFromRateWindow(tx, {
      scope: RATE,
      subject: createHash('sha256').update(request.email.toLowerCase()).digest('hex'),
      limit,
      window_seconds: rateWindowSeconds(RATE),
    });
    if (!is_allowed) throw rateLimited({ rate: RATE, limit, retry_after_seconds });
    await insertAccessRequest(tx, request);
  });
}

const RATE = 'access-request-email';

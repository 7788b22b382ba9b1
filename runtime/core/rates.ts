/** The rates at which calls are limited, and the refusal when one is exceeded. Spec: Rates. */
import { ServiceError } from './errors.ts';

/** What is counted, as worded in the refusal, and over which window. */
const RATES = {
  'failed-authentication': {
    counted: 'failed authentications from one address',
    window: 'a minute',
  },
  write: { counted: 'writes to one project', window: 'a minute' },
  'signed-url': { counted: 'signed URLs of one project', window: 'a minute' },
  'access-request': { counted: 'requests for access from one address', window: 'a minute' },
  'access-request-email': {
    counted: 'requests for access for one e-mail address',
    window: 'an hour',
  },
} as const satisfies Record<string, { counted: string; window: keyof typeof SECONDS }>;

const SECONDS = { 'a minute': 60, 'an hour': 3600 } as const;

export type RateName = keyof typeof RATES;

export function rateWindowSeconds(rate: RateName): number {
  return SECONDS[RATES[rate].window];
}

type PassedRate = { rate: RateName; limit: number; retry_after_seconds: number };

/** The message names the rate, its limit and the wait. */
export function rateLimited({ rate, limit, retry_after_seconds }: PassedRate): ServiceError {
  const { counted, window } = RATES[rate];
  const seconds = `${retry_after_seconds} second${retry_after_seconds === 1 ? '' : 's'}`;
  return new ServiceError('rate_limited', {
    message: `Too many ${counted}: ${limit} ${window} are allowed. Wait ${seconds}, then continue more slowly.`,
    retryAfterSeconds: retry_after_seconds,
  });
}

/** Translates the status of a CDN's answer into a refusal, with the CDN's own words. */
import { CdnRefusal } from './cdn.ts';
import type { CdnAnswer } from './cdn-api.ts';

/** What to do, by status. */
export type AdviceByStatus = Readonly<Record<number, string>>;

/**
 * Caps the wait that a cache asks for: blocked images are served until a purge is accepted, so a
 * cache that recovers early must be asked again soon.
 */
const RETRY_AFTER_SECONDS_MAX = 300;
const QUOTED_CHARACTERS_MAX = 200;

/** Undefined for a status of success. `reason`: what the body says, if anything. */
export function refusalOf(
  answer: CdnAnswer,
  of: { name: string; advice: AdviceByStatus; reason?: string | undefined },
): CdnRefusal | undefined {
  const { status } = answer;
  if (status >= 200 && status < 300) return undefined;
  const reason = of.reason ?? excerpt(answer.text);
  return new CdnRefusal({
    says: `${of.name} answered ${status}${reason === '' ? '' : ` (${reason})`}`,
    advice: of.advice[status] ?? adviceFor(status),
    concerns: concernsAll(status) ? 'all' : 'call',
    retry_after_seconds: retryAfterSeconds(answer),
  });
}

/** The beginning of an answer, on one line. */
export function excerpt(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, QUOTED_CHARACTERS_MAX);
}

// A single call can be wrong by itself; credentials, addresses, rates and outages concern all
// calls.
function concernsAll(status: number): boolean {
  return status >= 500 || [401, 403, 404, 405, 408, 429].includes(status) || status < 400;
}

function adviceFor(status: number): string {
  if (status === 429)
    return 'it is called too often; purges are retried when it allows them, and at least every 5 minutes';
  if (status >= 500)
    return 'the purge is retried; if this persists, check the status page of the CDN';
  if (status < 400) return 'TINTYPE_CDN_URL redirects: set it to the address that it redirects to';
  return 'compare TINTYPE_CDN, TINTYPE_CDN_URL, TINTYPE_CDN_ZONE and TINTYPE_CDN_TOKEN with the CDN';
}

/** Retry-After is in seconds or a date; Fastly instead sends when its rate window resets. */
function retryAfterSeconds({ status, headers }: CdnAnswer): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const reset = headers['fastly-ratelimit-reset'];
  const value = headers['retry-after'];
  if (value === undefined && typeof reset !== 'string') return undefined;
  const now = Date.parse(headers.date ?? '') || Date.now();
  const seconds = value === undefined ? Number(reset) - now / 1000 : secondsOf(value, now);
  if (!Number.isFinite(seconds)) return undefined;
  return Math.min(Math.max(Math.ceil(seconds), 1), RETRY_AFTER_SECONDS_MAX);
}

function secondsOf(retryAfter: string, now: number): number {
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - now) / 1000;
}

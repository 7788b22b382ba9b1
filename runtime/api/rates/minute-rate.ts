/**
 * A rate per minute for each subject across all processes. The windows in the database are authoritative; a process
 * takes several calls from a window at once, so that a flood causes few writes. Once a window is spent, this process
 * refuses its subject until the window ends, without asking again. While the database is unavailable, each process
 * allows the whole limit by itself. Spec: Rates.
 */
import { LRUCache } from 'lru-cache';
import { type RateName, rateLimited, rateWindowSeconds } from '../../core/rates.ts';
import type { Queryable } from '../../db/client.ts';
import { takeFromRateWindow } from '../../db/rate-windows.ts';
import { type Clock, steady } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';

/** Refuses with rate_limited and Retry-After once the subject has spent the minute's limit. */
export type MinuteRate = {
  /** Takes one call; throws if the window is spent. */
  take(subject: string): Promise<void>;
  /** Judges by this process's knowledge: takes nothing and makes no query. */
  isSpent(subject: string): boolean;
  /** Throws if isSpent. */
  refuseSpent(subject: string): void;
};

type Terms = {
  db: Queryable;
  clock: Clock;
  log: Log;
  scope: RateName;
  limit: number;
  metrics?: Pick<Metrics, 'rateRefused'>;
};

/** The calls that this process took from a window and has left, and whether the window has more. */
type Lease = { left: number; has_more: boolean; ends_at: number };

const SUBJECTS_MAX = 10_000;
/** At a limit of 6,000 a process takes 120 at once; at a small limit, one. */
const TAKEN_AT_ONCE = 1 / 50;

export function createMinuteRate(given: Terms): MinuteRate {
  const terms = { ...given, clock: steady(given.clock) };
  const leases = new LRUCache<string, Lease>({ max: SUBJECTS_MAX });
  const asked = new Map<string, Promise<void>>();
  /** Concurrent callers of a subject share one query. */
  const renew = (subject: string): Promise<void> => {
    const running =
      asked.get(subject) ??
      newLease(terms, subject).then((lease) => {
        leases.set(subject, lease);
        asked.delete(subject);
      });
    asked.set(subject, running);
    return running;
  };
  const take = async (subject: string): Promise<void> => {
    for (;;) {
      const lease = leases.get(subject);
      const left_ms = (lease?.ends_at ?? 0) - terms.clock.now().getTime();
      if (lease === undefined || left_ms <= 0) await renew(subject);
      else if (takeFromLease(lease)) return;
      else if (lease.has_more) await renew(subject);
      else throw refusal(terms, left_ms);
    }
  };
  const spentMs = (subject: string): number => {
    const lease = leases.get(subject);
    if (lease === undefined || lease.left > 0 || lease.has_more) return 0;
    return lease.ends_at - terms.clock.now().getTime();
  };
  return {
    take,
    isSpent: (subject) => spentMs(subject) > 0,
    refuseSpent: (subject) => {
      const left_ms = spentMs(subject);
      if (left_ms > 0) throw refusal(terms, left_ms);
    },
  };
}

function refusal({ metrics, scope: rate, limit }: Terms, left_ms: number): Error {
  metrics?.rateRefused(rate);
  return rateLimited({ rate, limit, retry_after_seconds: Math.ceil(left_ms / 1000) });
}

function takeFromLease(lease: Lease): boolean {
  if (lease.left === 0) return false;
  lease.left -= 1;
  return true;
}

async function newLease(terms: Terms, subject: string): Promise<Lease> {
  const { limit } = terms;
  const several = Math.max(1, Math.floor(limit * TAKEN_AT_ONCE));
  try {
    const lease = await leaseOf(terms, subject, several);
    return lease.left > 0 || several === 1 ? lease : await leaseOf(terms, subject, 1);
  } catch (error) {
    terms.log.warn('a rate could not be counted in the database: this process counts alone', {
      rate: terms.scope,
      error,
    });
    return {
      left: limit,
      has_more: false,
      ends_at: terms.clock.now().getTime() + rateWindowSeconds(terms.scope) * 1000,
    };
  }
}

async function leaseOf({ db, clock, scope, limit }: Terms, subject: string, count: number) {
  const window_seconds = rateWindowSeconds(scope);
  const request = { scope, subject, limit, window_seconds, count };
  const { is_allowed, retry_after_seconds } = await takeFromRateWindow(db, request);
  const ends_at = clock.now().getTime() + retry_after_seconds * 1000;
  return { left: is_allowed ? count : 0, has_more: is_allowed, ends_at };
}

/** How far what a watch cache holds can be relied on. */
import type { TimedClock } from './timed-clock.ts';

export type CacheHealth = {
  isSynced: boolean;
  objects: number;
  /** Since the API server last gave a sign: bookmarks come every minute where nothing changes. */
  silent_ms: number;
  /** Since the API server last answered it anything, be it that it may not look. */
  unheard_ms: number;
  /** So long that what it holds may be told no more. */
  isStale: boolean;
};

type Seen = {
  isSynced: boolean;
  objects: { size(): number };
  /** The last sign of the API server, and its last answer. */
  seen_at: number;
  heard_at: number;
  clock: TimedClock;
};

const STALE_MS = 30 * 60_000;

export function healthOf({ isSynced, objects, seen_at, heard_at, clock }: Seen): CacheHealth {
  const now = clock.elapsed();
  const silent_ms = now - seen_at;
  const isStale = silent_ms > STALE_MS;
  return { isSynced, objects: objects.size(), silent_ms, unheard_ms: now - heard_at, isStale };
}

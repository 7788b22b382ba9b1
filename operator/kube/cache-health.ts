/** How current the contents of a watch cache are. */
import type { TimedClock } from './timed-clock.ts';

export type CacheHealth = {
  isSynced: boolean;
  objects: number;
  /**
   * Time since the watch's last sign of life: bookmarks arrive every minute where nothing changes.
   */
  silent_ms: number;
  /** Time since the API server's last answer of any kind, including a refusal. */
  unheard_ms: number;
  /** Whether the contents are too old to be relied on. */
  isStale: boolean;
};

type Seen = {
  isSynced: boolean;
  objects: { size(): number };
  /** When the API server last gave a sign of life, and last answered. */
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

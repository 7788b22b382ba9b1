// The identity provider's public keys, cached so that its outage is not ours. A set is refreshed in the background
// after some minutes, and served for a day while refreshing fails. There is a pause of some seconds after a failed
// fetch, and after a refetch for a key that the set lacks. The pause is short because strangers may ask for such keys
// all the time, and would otherwise delay a key that the provider has just created. Spec: Authentication, Credentials,
// BrowserSession.
import { DAY_MS } from '../core/durations.ts';
import { type Clock, steady } from './clock.ts';
import { readBounded } from './http/read-bounded.ts';
import { traceHeaders } from './trace-context.ts';

const REFRESH_AFTER_MS = 5 * 60_000;
const SERVED_MS = DAY_MS;
const PAUSE_MS = 5_000;
const DEADLINE_MS = 5_000;
const BODY_BYTES_MAX = 256 * 1024;

export type KeySet<Keys> = {
  /** The last good set; undefined when none is available. */
  current(): Promise<Keys | undefined>;
  /**
   * One rate-limited refetch for a key that the set lacks; false when the provider is unavailable.
   */
  refetchForUnknownKid(): Promise<boolean>;
  /** Why the last fetch failed, for the log. */
  lastFailure(): unknown;
};

/**
 * `parse` throws for a document without a usable key: such a document never replaces a good set.
 */
export type KeySetOptions<Keys> = {
  url: string;
  clock: Clock;
  fetch: typeof fetch;
  parse: (document: unknown) => Keys;
  /** The limit of one fetch; default 5 s, because a caller of the API waits for it. */
  deadline_ms?: number;
};

export function createKeySet<Keys>(options: KeySetOptions<Keys>): KeySet<Keys> {
  const clock = steady(options.clock);
  const nowMs = () => clock.now().getTime();
  let good: { keys: Keys; fetchedAtMs: number } | undefined;
  let failure: { cause: unknown; atMs: number } | undefined;
  let unknownKidAtMs: number | undefined;
  let running: Promise<boolean> | undefined;

  const isWithin = (sinceMs: number | undefined, spanMs: number) =>
    sinceMs !== undefined && nowMs() - sinceMs < spanMs;

  async function fetchOnce(): Promise<boolean> {
    try {
      const keys = options.parse(await fetchDocument(options));
      good = { keys, fetchedAtMs: nowMs() };
      failure = undefined;
      return true;
    } catch (cause) {
      failure = { cause, atMs: nowMs() };
      return false;
    } finally {
      running = undefined;
    }
  }

  async function refresh(): Promise<boolean> {
    if (running === undefined && isWithin(failure?.atMs, PAUSE_MS)) return false;
    running ??= fetchOnce();
    return running;
  }

  return {
    async current() {
      if (!isWithin(good?.fetchedAtMs, SERVED_MS)) {
        good = undefined;
        await refresh();
      } else if (!isWithin(good?.fetchedAtMs, REFRESH_AFTER_MS)) {
        void refresh();
      }
      return good?.keys;
    },
    async refetchForUnknownKid() {
      if (running === undefined && isWithin(unknownKidAtMs, PAUSE_MS)) return true;
      const isFetched = await refresh();
      if (isFetched) unknownKidAtMs = nowMs();
      return isFetched;
    },
    lastFailure: () => failure?.cause,
  };
}

async function fetchDocument({
  url,
  fetch: fetchUrl,
  deadline_ms = DEADLINE_MS,
}: Pick<KeySetOptions<unknown>, 'url' | 'fetch' | 'deadline_ms'>): Promise<unknown> {
  const response = await fetchUrl(url, {
    headers: { ...traceHeaders(), accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(deadline_ms),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the key set answered ${response.status}`);
  }
  return JSON.parse(await readBounded(response, BODY_BYTES_MAX));
}

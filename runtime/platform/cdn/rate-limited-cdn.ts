/**
 * A CDN behind its API: calls of one lane run in turn and at its pace. A refusal that concerns every call stops the
 * lane, and nothing is sent in it until its Retry-After has passed. Spec: Caching and response headers.
 */
import { type Clock, steady } from '../clock.ts';
import { type Cdn, type CdnPurge, CdnRefusal } from './cdn.ts';
import type { CdnApi, CdnCall, PurgeTarget } from './cdn-api.ts';
import { createRateLimiter, type RateLimiter, type Wait } from './rate-limiter.ts';

type Lane = { limiter: RateLimiter; pause?: { until: number; refusal: CdnRefusal } };

export function createRateLimitedCdn(api: CdnApi, of: { clock: Clock; wait?: Wait }): Cdn {
  const lanes = new Map<string, Lane>();
  const laneOf = (name: string): Lane => {
    const known = lanes.get(name) ?? { limiter: createRateLimiter(api.rate, of) };
    lanes.set(name, known);
    return known;
  };
  return {
    batch_max: api.batch_max,
    check: (signal) => api.check(signal),
    purge: async <Purge extends CdnPurge>(purges: readonly Purge[], signal: AbortSignal) => {
      const refused = new Map<Purge, CdnRefusal>();
      const calls = Map.groupBy(api.callsFor(purges), ({ lane }) => lane);
      const sent = [...calls].map(([name, inTurn]) =>
        sendInTurn({ api, clock: steady(of.clock), lane: laneOf(name), signal, refused }, inTurn),
      );
      await Promise.all(sent);
      return refused;
    },
  };
}

type Sending<Purge> = {
  api: CdnApi;
  clock: Clock;
  lane: Lane;
  signal: AbortSignal;
  refused: Map<Purge, CdnRefusal>;
};

async function sendInTurn<Purge extends CdnPurge>(
  sending: Sending<Purge>,
  calls: readonly CdnCall<Purge>[],
): Promise<void> {
  let stopped = pauseOf(sending);
  for (const call of calls) {
    if (stopped !== undefined) {
      note(sending, call.targets, stopped);
      continue;
    }
    const refusal = await sendOne(sending, call);
    if (refusal?.facts.concerns === 'all') stopped = refusal;
  }
}

/** Sends one call and records the refused purges; returns the refusal. */
async function sendOne<Purge extends CdnPurge>(
  sending: Sending<Purge>,
  call: CdnCall<Purge>,
): Promise<CdnRefusal | undefined> {
  const { api, lane, signal } = sending;
  const names = call.targets.map(({ name }) => name);
  try {
    await lane.limiter.acquire(signal);
    const verdict = api.judge(await api.send(call.request, signal), names);
    if (verdict === undefined) return undefined;
    const { refusal, targets } = verdict;
    note(
      sending,
      call.targets.filter(({ name }) => targets.includes(name)),
      refusal,
    );
    return keepPause(sending, refusal);
  } catch (error) {
    if (!(error instanceof CdnRefusal)) throw error;
    note(sending, call.targets, error);
    return keepPause(sending, error);
  }
}

function note<Purge>(
  { refused }: Sending<Purge>,
  targets: readonly PurgeTarget<Purge>[],
  refusal: CdnRefusal,
): void {
  for (const { purges } of targets) for (const purge of purges) refused.set(purge, refusal);
}

function keepPause<Purge>({ lane, clock }: Sending<Purge>, refusal: CdnRefusal): CdnRefusal {
  const { retry_after_seconds } = refusal.facts;
  if (retry_after_seconds !== undefined) {
    lane.pause = { until: clock.now().getTime() + retry_after_seconds * 1000, refusal };
  }
  return refusal;
}

/** The refusal that asked for the current pause, with the remaining time. */
function pauseOf<Purge>({ lane, clock }: Sending<Purge>): CdnRefusal | undefined {
  const { pause } = lane;
  const left = (pause?.until ?? 0) - clock.now().getTime();
  if (pause === undefined || left <= 0) return undefined;
  const retry_after_seconds = Math.ceil(left / 1000);
  return new CdnRefusal({ ...pause.refusal.facts, retry_after_seconds });
}

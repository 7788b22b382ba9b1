// Spec: Project. Complements lease.test.ts, which uses a real API server: here the test decides when each answer comes.
import { expect, it } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { KubeFailure } from '../../../operator/kube/kube-failure.ts';
import { LEASE_MS, runElector, type Term } from '../../../operator/kube/lease.ts';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import type { DeclaredObject } from '../../../operator/kube/resource.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';
import { silentLog as log } from './silent-log.ts';

/** A client of an API server that has one lease, and accepts every write once `renews` resolves. */
function clientThat(renews: () => Promise<void>): KubeClient {
  const stored = ({ metadata, ...rest }: DeclaredObject) => ({
    ok: true,
    value: { ...rest, metadata: { uid: 'u', resourceVersion: '1', ...metadata } },
  });
  const failure = new KubeFailure({ reason: 'NotFound', message: 'no lease' });
  const client = {
    within: () => client,
    get: async () => ({ ok: false, failure }),
    create: async (_type: unknown, lease: DeclaredObject) => stored(lease),
    replace: async (_type: unknown, lease: DeclaredObject) => {
      await renews();
      return stored(lease);
    },
  };
  return client as unknown as KubeClient;
}

it('a term that ended during a renewal stays ended, even if the renewal succeeds', async () => {
  const clock = createManualTimedClock();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [begun, worked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const client = clientThat(() => {
    asked.resolve();
    return answered.promise;
  });
  let term: Term | undefined;
  const elector = runElector({
    ...{ client, namespace: 'images', name: 'operator', identity: 'a', clock, log },
    metrics: createKubeMetrics(),
    lead: async (began) => {
      term = began;
      begun.resolve();
      await worked.promise;
    },
  });
  await begun.promise;
  // The end of the term, and the next renewal.
  await expect.poll(() => clock.timers()).toBe(2);
  clock.advance(LEASE_MS.retry);
  await asked.promise;
  expect(term?.isCurrent()).toBe(true);
  clock.advance(LEASE_MS.renew - LEASE_MS.retry);
  expect([term?.isCurrent(), term?.signal.aborted]).toEqual([false, true]);
  answered.resolve();
  // The answer was processed, and the elector waits for its next turn.
  await expect.poll(() => clock.timers()).toBe(1);
  expect([term?.isCurrent(), elector.term()]).toEqual([false, undefined]);
  clock.advance(1_000);
  expect(elector.overdue_ms()).toBe(1_000);
  worked.resolve();
  await elector.stop();
});

it('a term counts from before its lease was requested, however late the response comes', async () => {
  const clock = createManualTimedClock();
  const [begun, ended] = [Promise.withResolvers<Term>(), Promise.withResolvers<void>()];
  const late = clientThat(() => ended.promise);
  const client: KubeClient = {
    ...late,
    within: () => client,
    create: (type, lease) => {
      clock.advance(LEASE_MS.call - 1);
      return late.create(type, lease);
    },
  };
  const elector = runElector({
    ...{ client, namespace: 'images', name: 'operator', identity: 'a', clock, log },
    metrics: createKubeMetrics(),
    lead: async (began) => {
      begun.resolve(began);
      await ended.promise;
    },
  });
  const term = await begun.promise;
  // The end of the term, and the first renewal, which is never answered.
  await expect.poll(() => clock.timers()).toBe(2);
  clock.advance(LEASE_MS.renew - LEASE_MS.call);
  expect(term.isCurrent()).toBe(true);
  clock.advance(1);
  expect([term.isCurrent(), term.signal.aborted]).toEqual([false, true]);
  ended.resolve();
  await elector.stop();
});

it('a standby takes over when the lease of a silent leader expires, not at its next poll', async () => {
  const clock = createManualTimedClock();
  const taken_at: number[] = [];
  const lease = {
    metadata: { name: 'operator', uid: 'u', resourceVersion: '1' },
    spec: { holderIdentity: 'silent', leaseDurationSeconds: 15, leaseTransitions: 1 },
  };
  const client = {
    ...clientThat(async () => void taken_at.push(clock.elapsed())),
    get: async () => ({ ok: true, value: lease }),
    within: () => client,
  } as unknown as KubeClient;
  const elector = runElector({
    ...{ client, namespace: 'images', name: 'operator', identity: 'a', clock, log },
    ...{ metrics: createKubeMetrics(), random: () => 0 },
    lead: ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  });
  const SECONDS_MAX = 20;
  for (let second = 0; second < SECONDS_MAX && taken_at.length === 0; second += 1) {
    // The candidate has read the lease, and waits for its next turn.
    await expect.poll(() => clock.timers()).toBeGreaterThan(0);
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(taken_at).toEqual([LEASE_MS.duration]);
  await elector.stop();
});

// Spec: Other state sets (subscription); Infrastructure (events of payment providers come in any order).
import { expect, it } from 'vitest';
import { movesSubscription } from '../../../../runtime/core/billing/billing-fact.ts';
import type { SubscriptionStatus } from '../../../../runtime/core/states.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const moves = (from: SubscriptionStatus, to: SubscriptionStatus, seconds: number) =>
  movesSubscription(
    { status: from, plan: 'pro', changed_at: NOW },
    { status: to, plan: 'pro', at: at(seconds) },
  );

it('a newer event changes a subscription, and an older one does not', () => {
  expect(moves('expired', 'active', 1)).toBe(true);
  expect(moves('active', 'expired', 1)).toBe(true);
  expect(moves('active', 'expired', -1)).toBe(false);
  expect(moves('expired', 'active', -1)).toBe(false);
});

it('a cancellation applies even if its event is older, and is final', () => {
  expect(moves('active', 'canceled', -1000)).toBe(true);
  expect(moves('scheduled_cancel', 'canceled', 1000)).toBe(true);
  expect(moves('canceled', 'active', 1000)).toBe(false);
  expect(moves('canceled', 'canceled', 0)).toBe(false);
});

it('of two events at the same time, one with another plan applies and a repeated one does not', () => {
  const before = { status: 'active', plan: 'pro', changed_at: NOW } as const;
  expect(movesSubscription(before, { status: 'active', plan: 'team', at: NOW })).toBe(true);
  expect(movesSubscription(before, { status: 'active', plan: 'pro', at: NOW })).toBe(false);
  expect(movesSubscription(before, { status: 'active', plan: 'team', at: at(-1) })).toBe(false);
});

it('of two events at the same time, the status later in the life of a subscription wins', () => {
  const life: SubscriptionStatus[] = ['active', 'scheduled_cancel', 'expired', 'canceled'];
  for (const [before, from] of life.slice(0, -1).entries()) {
    for (const [after, to] of life.entries()) {
      expect(moves(from, to, 0), `${from} and ${to}`).toBe(after > before);
    }
  }
});

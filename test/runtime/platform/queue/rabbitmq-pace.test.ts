import type { ConfirmChannel } from 'amqplib';
import { expect, it, vi } from 'vitest';
import {
  createBusyEstimate,
  createPacer,
  PACE_HEADER,
} from '../../../../runtime/platform/queue/rabbitmq-pace.ts';

/** A channel that can only tell the number of consumers. */
const listenedBy = (consumerCount: number) =>
  ({ checkQueue: async () => ({ consumerCount }) }) as unknown as ConfirmChannel;
const of = { name: 'render', queue: 'q' } as const;

async function retryAfter(paceMs: number | undefined, listeners: number): Promise<number> {
  const estimate = createBusyEstimate(256);
  if (paceMs !== undefined) estimate.observe({ [PACE_HEADER]: paceMs });
  return (await estimate.busy(listenedBy(listeners), of)).retry_after_seconds;
}

it('the retry time of a full queue follows from its size and the pace of its consumers', async () => {
  expect(await retryAfter(50, 1)).toBe(13);
  expect(await retryAfter(50, 4)).toBe(4);
  expect(await retryAfter(1000, 1)).toBe(30);
  expect(await retryAfter(1, 10)).toBe(2);
});

it('the retry time is short before the first answer and without consumers', async () => {
  expect(await retryAfter(undefined, 1)).toBe(2);
  expect(await retryAfter(10, 0)).toBe(3);
});

it('the pace is the time from one answer to the next, without idle time', () => {
  const pacer = createPacer();
  const clock = vi.spyOn(performance, 'now');
  const endedAt = (now: number, began: number) => {
    clock.mockReturnValue(now);
    return pacer.ended(began);
  };
  expect(endedAt(1040, 1000)).toBe(40);
  // This call began before the previous one ended: only the time since then counts.
  expect(endedAt(1080, 1010)).toBe(40);
  // The idle time between calls does not count.
  expect(endedAt(2090, 2080)).toBe(34);
  clock.mockRestore();
});

/**
 * How long a full queue of calls takes to have room again: whoever serves says with each answer how fast it answers,
 * and the broker says how many serve.
 */
import type { ConfirmChannel } from 'amqplib';
import { QueueBusy, type QueueName } from './queue.ts';

/** The header of an answer: milliseconds from one answer of this server to its next while it has work. */
export const PACE_HEADER = 'x-pace-ms';

const LATEST_WEIGHT = 0.2;
const RETRY_SECONDS_MIN = 2;
const RETRY_SECONDS_MAX = 30;
const LISTENERS_KNOWN_MS = 1000;

/** The serving end. */
export function createPacer() {
  let average: number | undefined;
  let lastEnd = Number.NEGATIVE_INFINITY;
  return {
    /** Called when an answer is ready; time without work does not count. */
    ended: (startedAt: number): number => {
      const now = performance.now();
      const took = now - Math.max(startedAt, lastEnd);
      lastEnd = now;
      average = average === undefined ? took : average + LATEST_WEIGHT * (took - average);
      return average;
    },
  };
}

/** The asking end. */
export function createBusyEstimate(waitingMax: number) {
  let paceMs: number | undefined;
  let known = { listeners: 1, at: Number.NEGATIVE_INFINITY };
  const listenersOf = async (channel: ConfirmChannel, queue: string): Promise<number> => {
    if (performance.now() - known.at < LISTENERS_KNOWN_MS) return known.listeners;
    const { consumerCount } = await channel.checkQueue(queue);
    known = { listeners: Math.max(1, consumerCount), at: performance.now() };
    return known.listeners;
  };
  return {
    heard: (headers: Record<string, unknown> | undefined) => {
      const pace = Number(headers?.[PACE_HEADER]);
      if (pace > 0) paceMs = pace;
    },
    /** For a call that the broker turned away. */
    busy: async (channel: ConfirmChannel, of: { name: QueueName; queue: string }) => {
      const listeners = await listenersOf(channel, of.queue).catch(() => known.listeners);
      const seconds = Math.ceil((waitingMax * (paceMs ?? 0)) / listeners / 1000);
      return new QueueBusy(
        of.name,
        Math.min(Math.max(seconds, RETRY_SECONDS_MIN), RETRY_SECONDS_MAX),
      );
    },
  };
}

export type BusyEstimate = ReturnType<typeof createBusyEstimate>;

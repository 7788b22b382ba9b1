/**
 * Estimates when a full queue of calls has room again: each answer carries the server's pace, and the broker reports
 * how many servers there are.
 */
import type { ConfirmChannel } from 'amqplib';
import { QueueBusy, type QueueName } from './queue.ts';

/** The header of an answer: milliseconds between two answers of this server while it has work. */
export const PACE_HEADER = 'x-pace-ms';

const LATEST_WEIGHT = 0.2;
const RETRY_SECONDS_MIN = 2;
const RETRY_SECONDS_MAX = 30;
const LISTENERS_KNOWN_MS = 1000;

/** The serving side. */
export function createPacer() {
  let average: number | undefined;
  let lastEnd = Number.NEGATIVE_INFINITY;
  return {
    /** Call when an answer is ready; idle time does not count. */
    ended: (startedAt: number): number => {
      const now = performance.now();
      const took = now - Math.max(startedAt, lastEnd);
      lastEnd = now;
      average = average === undefined ? took : average + LATEST_WEIGHT * (took - average);
      return average;
    },
  };
}

/** The calling side. */
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
    observe: (headers: Record<string, unknown> | undefined) => {
      const pace = Number(headers?.[PACE_HEADER]);
      if (pace > 0) paceMs = pace;
    },
    /** The error for a call that the broker rejected. */
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

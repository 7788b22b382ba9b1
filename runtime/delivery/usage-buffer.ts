/**
 * Keeps deliveries that the disk did not accept in memory until the database has them. A full disk therefore loses no
 * usage, unless the process dies meanwhile or the database is also away for long. Spec: Metering.
 */
import type { SpooledDelivery } from './usage-batch.ts';

/** A chunk never changes, so that (spool, sequence) identifies it however often it is sent. */
export type UsageChunk = {
  spool_id: string;
  sequence: number;
  deliveries: readonly SpooledDelivery[];
};

export type UsageBuffer = {
  /** False when there is no room for more. */
  add(delivery: SpooledDelivery): boolean;
  /**
   * Passes all buffered deliveries to `handle`. A chunk whose call throws is passed again unchanged,
   * before anything that came later.
   */
  send(handle: (chunk: UsageChunk) => Promise<void>): Promise<void>;
  size(): number;
};

/** About ten megabytes. */
const HELD_MAX = 100_000;

/** `spool_id` must never have been used before, not even by the disk spool. */
export function createUsageBuffer(spool_id: string, held_max = HELD_MAX): UsageBuffer {
  let buffered: SpooledDelivery[] = [];
  let sending: SpooledDelivery[] = [];
  let sequence = 0;
  const sendChunk = async (handle: (chunk: UsageChunk) => Promise<void>) => {
    if (sending.length === 0) {
      if (buffered.length === 0) return;
      [sending, buffered] = [buffered, []];
      sequence += 1;
    }
    await handle({ spool_id, sequence, deliveries: sending });
    sending = [];
  };
  const send: UsageBuffer['send'] = async (handle) => {
    // First the chunk that was refused before, then the deliveries that came since.
    const isAgain = sending.length > 0;
    await sendChunk(handle);
    if (isAgain) await sendChunk(handle);
  };
  const size = () => buffered.length + sending.length;
  return {
    add: (delivery) => {
      if (size() >= held_max) return false;
      buffered.push(delivery);
      return true;
    },
    send,
    size,
  };
}

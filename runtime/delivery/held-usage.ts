/**
 * Deliveries that the disk did not take, in memory until the database has them: a full disk costs nobody anything, unless
 * the process dies meanwhile, or the database is away for long too. Spec: Metering.
 */
import type { SpooledDelivery } from './usage-batch.ts';

/** A piece that never changes, so that (spool, sequence) makes it unique however often it is sent. */
export type HeldPiece = {
  spool_id: string;
  sequence: number;
  deliveries: readonly SpooledDelivery[];
};

export type HeldUsage = {
  /** False where there is no room for more. */
  add(delivery: SpooledDelivery): boolean;
  /** Hands out all that is held; what throws is handed out again as it was, before anything that came later. */
  send(piece: (piece: HeldPiece) => Promise<void>): Promise<void>;
  /** How many are held. */
  size(): number;
};

/** Some ten megabytes. */
const HELD_MAX = 100_000;

/** `spool_id`: never used before, nor by the spool. */
export function holdUsage(spool_id: string, held_max = HELD_MAX): HeldUsage {
  let held: SpooledDelivery[] = [];
  let sending: SpooledDelivery[] = [];
  let sequence = 0;
  const sendPiece = async (handle: (piece: HeldPiece) => Promise<void>) => {
    if (sending.length === 0) {
      if (held.length === 0) return;
      [sending, held] = [held, []];
      sequence += 1;
    }
    await handle({ spool_id, sequence, deliveries: sending });
    sending = [];
  };
  const send: HeldUsage['send'] = async (handle) => {
    // A piece that was refused before, and behind it what came since.
    const isAgain = sending.length > 0;
    await sendPiece(handle);
    if (isAgain) await sendPiece(handle);
  };
  const size = () => held.length + sending.length;
  return {
    add: (delivery) => {
      if (size() >= held_max) return false;
      held.push(delivery);
      return true;
    },
    send,
    size,
  };
}

/**
 * Bounds what large bodies may occupy in this process, whoever sends them: many that never end would otherwise fill its
 * memory, as a caller is often known only by the end of the body, which is signed. What every connection costs anyway
 * is left out, so that usual requests are taken while others fill the room. One network has only a share. Spec: Rules 4
 * (rate_limited, Retry-After).
 */
import type { Response } from 'express';
import { ServiceError } from '../../core/errors.ts';
import {
  BODIES_HELD_BYTES_MAX,
  BODIES_OF_NETWORK_BYTES_MAX,
  BODIES_RETRY_AFTER_SECONDS,
  BODY_UNCOUNTED_BYTES,
} from '../../core/limits.ts';
import { networkOf } from '../client-network.ts';

/** Tells the room how many bytes of a body have arrived; throws rate_limited if that is too much. */
export type Hold = (bytes: number) => void;

/** The room of a process. Each body is held until its request is answered or its caller has left. */
export type BodyRoom = { enter(response: Response): Hold };

export function createBodyRoom(): BodyRoom {
  const shares = new Map<string, number>();
  let held = 0;
  return {
    enter(response) {
      const network = networkOf(response.req.ip ?? '');
      let mine = 0;
      const take = (bytes: number) => {
        const share = (shares.get(network) ?? 0) - mine + bytes;
        const all = held - mine + bytes;
        if (share > BODIES_OF_NETWORK_BYTES_MAX || all > BODIES_HELD_BYTES_MAX) throw full();
        held = all;
        mine = bytes;
        if (share > 0) shares.set(network, share);
        else shares.delete(network);
      };
      response.once('close', () => take(0));
      return (bytes) => take(Math.max(0, bytes - BODY_UNCOUNTED_BYTES));
    },
  };
}

function full(): ServiceError {
  return new ServiceError('rate_limited', {
    message: 'Too many large bodies arrive at once. Send it again after Retry-After seconds.',
    retryAfterSeconds: BODIES_RETRY_AFTER_SECONDS,
  });
}

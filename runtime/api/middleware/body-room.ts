/**
 * Bounds what large bodies may occupy in this process, whoever sends them: many that never end would otherwise fill its
 * memory, as a caller is often known only by the end of the body, which is signed. What every connection costs anyway
 * is left out, so that usual requests are taken while others fill the room. Spec: Rules 4 (rate_limited, Retry-After).
 */
import type { Response } from 'express';
import { ServiceError } from '../../core/errors.ts';
import {
  BODIES_HELD_BYTES_MAX,
  BODIES_RETRY_AFTER_SECONDS,
  BODY_UNCOUNTED_BYTES,
} from '../../core/limits.ts';

/** Tells the room how many bytes of a body have arrived; throws rate_limited if that is too much. */
export type Hold = (bytes: number) => void;

/** The room of a process. Each body is held until its request is answered or its caller has left. */
export type BodyRoom = { enter(response: Response): Hold };

export function createBodyRoom(): BodyRoom {
  let held = 0;
  return {
    enter(response) {
      let mine = 0;
      response.once('close', () => {
        held -= mine;
      });
      return (bytes) => {
        const counted = Math.max(0, bytes - BODY_UNCOUNTED_BYTES);
        if (held - mine + counted > BODIES_HELD_BYTES_MAX) throw full();
        held += counted - mine;
        mine = counted;
      };
    },
  };
}

function full(): ServiceError {
  return new ServiceError('rate_limited', {
    message: 'Too many large bodies arrive at once. Send it again after Retry-After seconds.',
    retryAfterSeconds: BODIES_RETRY_AFTER_SECONDS,
  });
}

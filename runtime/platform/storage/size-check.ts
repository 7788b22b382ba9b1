/**
 * Checks that a body has exactly the announced number of bytes, if there was one; otherwise throws ObjectSizeMismatch.
 */
import { Transform } from 'node:stream';
import { ObjectSizeMismatch } from './bucket.ts';

export function createSizeCheck(expected: number | undefined) {
  return {
    of: (body: Buffer): Buffer => {
      if (expected !== undefined && body.length !== expected) {
        throw new ObjectSizeMismatch(expected, body.length);
      }
      return body;
    },
    /** Passes bytes on; fails at the first byte too many, or at an early end. */
    passing: (): Transform => {
      let size = 0;
      return new Transform({
        transform(chunk: Buffer, _encoding, done) {
          size += chunk.length;
          if (expected !== undefined && size > expected)
            done(new ObjectSizeMismatch(expected, size));
          else done(null, chunk);
        },
        flush(done) {
          const isRight = expected === undefined || size === expected;
          done(isRight ? null : new ObjectSizeMismatch(expected, size));
        },
      });
    },
  };
}

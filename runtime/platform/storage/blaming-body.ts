/**
 * Bytes on their way from the storage. Where they break off it is the storage's fault, and is said as such: an
 * interrupted answer must not count against the picture that was being read.
 */
import type { Readable } from 'node:stream';

/** The same stream, whose failure is what `faultOf` makes of it. */
export function blamingBody<Body extends Readable>(
  body: Body,
  faultOf: (error: unknown) => unknown,
): Body {
  const destroy = body.destroy.bind(body);
  // Streams of files and of answers fail by destroying themselves: a stream behind them would cost a copy of its own.
  return Object.assign(body, {
    destroy: (error?: Error) => {
      const fault = error && faultOf(error);
      return destroy(fault instanceof Error ? fault : error);
    },
  });
}

/**
 * Bytes read from the storage. An error in the middle is reported as the storage's fault: an interrupted read must not
 * count against the image being read.
 */
import type { Readable } from 'node:stream';

/** Returns the same stream; its errors are mapped by `faultOf`. */
export function mapStreamErrors<Body extends Readable>(
  body: Body,
  faultOf: (error: unknown) => unknown,
): Body {
  const destroy = body.destroy.bind(body);
  // File and response streams fail by destroying themselves, so `destroy` is replaced; a second
  // stream behind them would cost a copy.
  return Object.assign(body, {
    destroy: (error?: Error) => {
      const fault = error && faultOf(error);
      return destroy(fault instanceof Error ? fault : error);
    },
  });
}

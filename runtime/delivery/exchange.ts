/** One request with its response, and how it was answered. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeliveryErrorCode } from '../core/errors.ts';

export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  /** The API's origin, for the help links of refusals; undefined: no links. */
  baseUrl: string | undefined;
};

/** Where an answer came from, for the metrics; `none` for everything that is not an image. */
export type Source = 'memory' | 'store' | 'render' | 'original' | 'not_modified' | 'none';

/**
 * `bytes`: how many bytes of an image's body were handed to the connection. `code`: why nothing was
 * delivered.
 */
export type DeliveryResult = { source: Source; bytes: number; code?: DeliveryErrorCode };

/** Called with the number of body bytes, before the response ends. */
export type MeterDelivery = (bytes: number) => void;

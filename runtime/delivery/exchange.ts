/** One request with its response, and what became of the two. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  /** The API's origin, for what a refusal links to; undefined: it links nothing. */
  baseUrl: string | undefined;
};

/** Where an answer came from, for the metrics; `none` for whatever is no image. */
export type Source = 'memory' | 'store' | 'render' | 'original' | 'not_modified' | 'none';

/** `bytes` of an image's body that were handed to the connection. */
export type Answered = { source: Source; bytes: number };

/** Called with the number of body bytes, before the response ends. */
export type MeterDelivery = (bytes: number) => void;

/**
 * Any operation's response to input that is not readable as a request, besides its 400. Ours; Spec: Errors, Envelope.
 */
import type { Json } from './document.ts';
import { refusal, refusalResponses } from './refusals.ts';

const unread = {
  RequestTimeout: {
    status: 408,
    why: 'The headers or the body did not arrive in time, and the connection is closed:',
  },
  HeadTooLarge: { status: 431, why: 'The headers are too large, and the connection is closed:' },
} as const;

const entries = Object.entries(unread);

/** By name, for the components of the document. */
export const unreadResponses: Json = Object.fromEntries(
  entries.map(([name, { status, why }]) => {
    const row = { ...refusal('invalid_request'), status };
    const response = refusalResponses([row])[status] as { description: string };
    return [name, { ...response, description: `${why} ${response.description}` }];
  }),
);

/** By status, for the responses of an operation. */
export const unreadStatuses: Json = Object.fromEntries(
  entries.map(([name, { status }]) => [status, { $ref: `#/components/responses/${name}` }]),
);

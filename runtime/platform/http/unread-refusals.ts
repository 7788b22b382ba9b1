/** Refusals of what could not be read as a request. Ours; Spec: Errors, Envelope. */
import { errorEnvelope } from '../../core/errors.ts';
import type { ConnectionAnswer } from './refuse-connection.ts';

/** The code of all of them. */
export const UNREAD = 'invalid_request';

export type UnreadRefusal = { readonly status: number; readonly message: string };

/** By the code of Node's error, where it is not simply a 400. */
export const unreadRefusals: Readonly<Record<string, UnreadRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'The head of the request is larger than 16 KiB. Shorten its headers or its query.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    message:
      'The head of the request did not arrive within 10 seconds. Send it again, without a pause.',
  },
};

/** The answer of such a refusal, with these headers. */
export function unreadAnswer(
  { status, message }: UnreadRefusal,
  headers: ConnectionAnswer['headers'],
): ConnectionAnswer {
  return { status, headers, body: JSON.stringify(errorEnvelope({ code: UNREAD, message })) };
}

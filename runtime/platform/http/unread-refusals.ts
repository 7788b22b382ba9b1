/**
 * Refusals of what could not be read as a request, by the code of Node's error, where they are not simply a 400. Ours;
 * Spec: Errors, Envelope.
 */
export type UnreadRefusal = { readonly status: number; readonly message: string };

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

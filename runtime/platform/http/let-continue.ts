/** Tells a client that waits for it to send its body now, because the request was not refused by its head. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** HTTP/1.0 has no interim answers. Other expectations may be ignored. */
export function letContinue(
  { headers, httpVersion }: IncomingMessage,
  response: ServerResponse,
): void {
  const awaits = headers.expect?.toLowerCase() === '100-continue';
  if (awaits && httpVersion !== '1.0') response.writeContinue();
}

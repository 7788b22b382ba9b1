/**
 * Fails a request whose connection ends without an answer; an answer that switches protocols counts as none. Node
 * reports these cases only by the end of the request, and a caller that waits for an answer or an error would wait
 * forever. Faults behind a complete answer are ignored: some servers send a body behind a 204, or more than they
 * announced.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';

export function onIncompleteResponse(sent: ClientRequest, fail: (error: Error) => void): void {
  let answer: IncomingMessage | undefined;
  sent.on('response', (response) => {
    answer = response;
  });
  sent.on('error', (error) => {
    if (!answer?.complete) fail(error);
  });
  sent.on('close', () => {
    if (answer === undefined) fail(new Error('the connection ended without an answer'));
  });
}

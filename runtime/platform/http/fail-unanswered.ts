/**
 * Fails a request whose connection ends without an answer, an answer that switches protocols included: Node tells of
 * those by nothing but the end of the request, and whoever waits for an answer or an error would wait for ever. What is
 * wrong behind a whole answer fails nothing: some servers send a body behind a 204, or more than they announced.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';

export function failUnanswered(sent: ClientRequest, fail: (error: Error) => void): void {
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

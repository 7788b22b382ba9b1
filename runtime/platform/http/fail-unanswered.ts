/**
 * Fails a request whose connection ends without an answer, an answer that switches protocols included: Node tells of
 * those by nothing but the end of the request, and whoever waits for an answer or an error would wait for ever.
 */
import type { ClientRequest } from 'node:http';

export function failUnanswered(sent: ClientRequest, fail: (error: Error) => void): void {
  let isAnswered = false;
  sent.on('response', () => {
    isAnswered = true;
  });
  sent.on('error', fail);
  sent.on('close', () => {
    if (!isAnswered) fail(new Error('the connection ended without an answer'));
  });
}

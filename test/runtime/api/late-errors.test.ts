// Errors thrown after a response has begun. Spec: Errors, Envelope.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import express, { type Response } from 'express';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { answerError } from '../../../runtime/api/middleware/answer-error.ts';
import { useApi } from '../../support/api-server.ts';

const api = useApi();
const app = express();
// As in a deployment: Express prints unhandled errors, except in its test environment.
app.set('env', 'production');
app.get('/half', (_request, response) => throwAfter(response.write('half')));
app.get('/whole', (_request, response) => throwAfter(response.end('whole')));
const server = createServer(app);

beforeAll(async () => {
  app.use(answerError(api.deps()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

function throwAfter(_answered: boolean | Response): never {
  throw new Error('too late');
}

it.each([
  [
    'after an error, an incomplete response is not ended like a complete one',
    '/half',
    /^(?!.*0\r\n\r\n$)/s,
  ],
  ['an error after a complete response does not change it', '/whole', /whole$/],
])('%s, and nothing is printed to the console', async (_what, path, end) => {
  const printed = vi.spyOn(console, 'error');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  expect(await text(socket)).toMatch(end);
  await new Promise((done) => setImmediate(done));
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});

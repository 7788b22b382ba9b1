// An API process: its shutdown while it receives an upload, and the other handlers on its port.
import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { defaultHeaders } from '../../../runtime/api/default-headers.ts';
import { type SharedPortHandler, startApi } from '../../../runtime/api/serve.ts';
import { listen } from '../../../runtime/platform/http/listen.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { apiConfig } from '../../support/api-config.ts';
import { useApi } from '../../support/api-server.ts';

const api = useApi();
afterEach(() => {
  vi.useRealTimers();
});

const counts: SharedPortHandler = (request, response) => {
  void buffer(request).then(
    ({ length }) => response.end(`${length} bytes`),
    () => undefined,
  );
  return true;
};

/** Tells the API to stop after half of a request body has arrived. */
async function endHalfway(drain: { drain_ms?: number } = {}) {
  const { server, stop } = startApi(api.deps(), {
    ...{ config: apiConfig(), sharedHandlers: [counts], quiet_ms: 0 },
    ...drain,
  });
  const port = await listen(server, { port: 0, option: 'TINTYPE_API_PORT', host: '127.0.0.1' });
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  const request = once(server, 'request');
  socket.write('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nfirst');
  await request;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stopped = stop();
  // `expect.poll` would advance the fake clock.
  while (server.listening) await turn();
  return { socket, stopped };
}

it('a stopping server lets a body that is being sent arrive for a minute by default', async () => {
  const { socket, stopped } = await endHalfway();
  vi.advanceTimersByTime(59_999);
  // If the server closed the connection, the client would notice within a turn.
  await turn();
  socket.write('there');
  vi.useRealTimers();
  expect(await text(socket)).toContain('10 bytes');
  await stopped;
});

it.each([
  [60_000, {}],
  [1000, { drain_ms: 1000 }],
])(
  'a stopping server closes the connection of an unfinished body after %d ms',
  async (ms, drain) => {
    const { socket, stopped } = await endHalfway(drain);
    vi.advanceTimersByTime(ms);
    vi.useRealTimers();
    expect(await text(socket).catch(() => '')).toBe('');
    await stopped;
  },
);

it('an answer of another handler on the port has the security headers of the API', async () => {
  const config = apiConfig();
  const { server, stop } = startApi(api.deps(), { config, sharedHandlers: [counts], quiet_ms: 0 });
  onTestFinished(stop);
  const port = await listen(server, { port: 0, option: 'TINTYPE_API_PORT', host: '127.0.0.1' });
  const { headers } = await fetch(`http://127.0.0.1:${port}/`);
  expect(Object.fromEntries(headers)).toMatchObject(defaultHeaders(config.baseUrl));
});

it.each([
  ['TINTYPE_PROVIDER_B_API_KEY', { TINTYPE_PROVIDER_B_URL: 'https://b.example' }],
  ['TINTYPE_PROVIDER_B_URL', { TINTYPE_PROVIDER_B_API_KEY: 'key-of-provider-b' }],
])(
  'the server warns at startup that %s is missing, without which no subscription can be canceled',
  (variable, half) => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLog({ level: 'info', name: 'test', destination });
    startApi({ ...api.deps(), log }, { config: apiConfig(half) });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'warn', variable }]);
    expect(lines.join()).not.toContain('key-of');
    startApi({ ...api.deps(), log }, { config: apiConfig() });
    expect(lines).toHaveLength(1);
  },
);

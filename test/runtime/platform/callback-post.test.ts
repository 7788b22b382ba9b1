// Spec: Events (the callback URL must be https and resolve to a public address); Webhook delivery attempt.
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callbackPost } from '../../../runtime/platform/callback-post.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { publicLookup } from '../../../runtime/platform/public-lookup.ts';
import { type DnsStub, startDnsStub } from '../../support/dns-stub.ts';

/** Listens on all addresses of this machine and counts the connections that get through. */
let canary: Server;
let port: number;
let connections = 0;
let dns: DnsStub;

beforeAll(async () => {
  canary = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((listening) => canary.listen(0, listening));
  const address = canary.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  dns = await startDnsStub();
});
afterAll(async () => {
  await dns.close();
  await new Promise((closed) => canary.close(closed));
});
beforeEach(() => {
  connections = 0;
});

const post = (url: string, deadline_ms = 2000) => {
  const lookup = publicLookup([dns.server]);
  const send = callbackPost({ egress: 'public', clock: systemClock, lookup, deadline_ms });
  return send({ url, headers: {}, body: '{}', signal: new AbortController().signal });
};

describe('a webhook callback', () => {
  it('is never sent to a non-public address in its URL, however it is written', async () => {
    const hosts = [
      ...['127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '0x7f000001', '127.0.0.1.'],
      ...['0.0.0.0', '0', '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1'],
      ...['168.63.129.16', '192.0.0.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
      ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
      ...['[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
      ...['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]'],
      ...['[100::1]', '[100:0:0:1::1]', '[3fff::1]', '[5f00::1]', '[2001:20::1]', '１２７.0.0.1'],
      ...['user@127.0.0.1', 'public.test@127.0.0.1', '①②⑦.0.0.1', '127。0。0。1'],
    ];
    for (const host of hosts) {
      const { error, response_status } = await post(`https://${host}:${port}/`);
      expect(error, host).toMatch(/^expected a public address/);
      expect(response_status).toBeNull();
    }
    expect(connections).toBe(0);
  });

  it('is never sent to a port that is not allowed', async () => {
    const options = { egress: 'public', ports: [443], clock: systemClock } as const;
    const lookup = publicLookup([dns.server]);
    const send = callbackPost({ ...options, lookup, deadline_ms: 2000 });
    const { signal } = new AbortController();
    const { error } = await send({ url: 'https://1.1.1.1:8443/', headers: {}, body: '{}', signal });
    expect(error).toBe('expected port 443');
  });

  it('reaches the canary server without the guard', async () => {
    const send = callbackPost({ egress: 'any', clock: systemClock, deadline_ms: 2000 });
    const { signal } = new AbortController();
    await send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}', signal });
    expect(connections).toBe(1);
  });

  it('is never sent to a name with a non-public address, even among public ones', async () => {
    const inside: [readonly string[], readonly string[]][] = [
      [['127.0.0.1'], []],
      [['1.1.1.1', '127.0.0.1'], []],
      [['1.1.1.1'], ['::1']],
      [[], ['::1']],
      [[], ['::ffff:7f00:1']],
      [[], ['64:ff9b::7f00:1']],
      [['169.254.169.254'], ['2606:4700::1111']],
    ];
    for (const [v4, v6] of inside) {
      dns.answer((_, family) => (family === 4 ? v4 : v6));
      const { error } = await post(`https://inside.test:${port}/`);
      expect(error).toBe('inside.test resolves to a private or reserved address');
    }
    expect(connections).toBe(0);
  });

  it('checks the addresses resolved for the connection itself, not earlier ones', async () => {
    let turn = 0;
    dns.answer((_, family) => {
      turn += family === 4 ? 1 : 0;
      return family === 6 ? [] : [turn % 2 === 0 ? '127.0.0.1' : '198.51.100.1'];
    });
    for (let attempt = 0; attempt < 20; attempt++) {
      const { error } = await post(`https://rebinding.test:${port}/`);
      expect(error).toMatch(/resolves to a private or reserved address/);
    }
    expect(dns.asked()).toBeGreaterThanOrEqual(40);
    expect(connections).toBe(0);
  });

  it('is never sent over http or to localhost', async () => {
    dns.answer(() => ['1.1.1.1']);
    expect(await post(`http://public.test:${port}/`)).toMatchObject({
      error: 'expected an https URL',
    });
    for (const name of ['localhost', 'localhost.', 'LOCALHOST']) {
      expect((await post(`https://${name}:${port}/`)).error, name).toMatch(/private or reserved/);
    }
    expect(connections).toBe(0);
  });

  it('reports a name that does not resolve, and a name server that does not answer', async () => {
    dns.answer(() => []);
    expect((await post('https://nowhere.test/')).error).toBe(
      'nowhere.test does not resolve (ENODATA)',
    );
    dns.answer(() => undefined);
    expect((await post('https://silent.test/', 200)).error).toBe('no complete answer within 0.2 s');
  });

  it('succeeds only with a complete 2xx response, which may be followed by excess bytes, and names the status of a cut one', async () => {
    const answers: [string, number, string | null, string | null][] = [
      ['HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok', 204, null, null],
      ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more', 200, 'ok', null],
      ['HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\ncut', 200, null, 'closed the connection'],
    ];
    for (const [answer, response_status, response_excerpt, error] of answers) {
      const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const address = server.address();
      const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
      const send = callbackPost({ egress: 'any', clock: systemClock, deadline_ms: 2000 });
      const { signal } = new AbortController();
      const taken = await send({ url, headers: {}, body: '{}', signal });
      await new Promise((closed) => server.close(closed));
      expect(taken, answer).toMatchObject({ response_status, response_excerpt });
      expect(taken.error, answer).toEqual(error && expect.stringContaining(error));
    }
  });

  it('is aborted with its process, which is not a failure of the endpoint', async () => {
    const ending = new AbortController();
    dns.answer(() => undefined);
    const send = callbackPost({
      egress: 'public',
      clock: systemClock,
      lookup: publicLookup([dns.server]),
    });
    const sent = send({ url: 'https://x.test/', headers: {}, body: '', signal: ending.signal });
    ending.abort(new Error('the process ends'));
    await expect(sent).rejects.toThrow('the process ends');
  });
});

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultHeaders } from '../../../runtime/api/default-headers.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { createApiServer } from '../../../runtime/api/server.ts';
import { printHelpLink } from '../../../runtime/core/error-help/help-link.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createMetrics } from '../../../runtime/platform/metrics.ts';
import { expectDocumented } from '../../support/documented.ts';
import { metricValue } from '../../support/metric-value.ts';

const lines: string[] = [];
const options = {
  baseUrl: 'http://api.test',
  log: createLog({
    level: 'info',
    name: 'api',
    destination: { write: (line) => lines.push(line) },
  }),
  metrics: createMetrics(),
};

describe('the API server', () => {
  const server = createApiServer(
    (request, response) => {
      setImmediate(() => response.end(`read ${request.url}`));
    },
    { ...options, headers_ms: 200, check_ms: 50 },
  );

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  const sent = async (bytes: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(bytes);
    return text(socket);
  };

  it('sends x-request-id with every response, either from the request or generated', async () => {
    const { port } = server.address() as AddressInfo;
    const idOf = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${port}/`, { headers })).headers.get('x-request-id');
    expect(await idOf({ 'x-request-id': 'mine-12345' })).toBe('mine-12345');
    expect(await idOf({ 'x-request-id': 'no' })).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf({})).toMatch(/^[0-9a-f-]{36}$/);
  });

  const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n';

  it.each([
    ['a request that is not HTTP', '400 Bad Request', 'what is this\r\n\r\n'],
    ['no Host', '400 Bad Request', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', '400 Bad Request', `${HEAD}Host: b\r\n\r\n`],
    ['two Hosts, far apart', '400 Bad Request', `${HEAD}${'a:\r\n'.repeat(2500)}Host: b\r\n\r\n`],
    ['an invalid Host', '400 Bad Request', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['the URL of another host', '400 Bad Request', 'GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an unknown transfer coding', '400 Bad Request', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n`],
    ['two transfer codings', '400 Bad Request', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['no HTTP version', '400 Bad Request', 'GET /\r\n\r\n'],
    ['CONNECT', '400 Bad Request', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
    [
      'two Content-Lengths',
      '400 Bad Request',
      `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    ],
    [
      'a head that is too large',
      '431 Request Header Fields Too Large',
      `${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
    ['a head that does not end', '408 Request Timeout', `${HEAD}X: y\r\n`],
  ])(
    'answers %s with %s, the envelope and an x-request-id, and ends the connection',
    async (_what, status, bytes) => {
      const answer = await sent(bytes);
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
      expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
      expect(head).toMatch(/\r\nconnection: close\r\n/);
      for (const [name, value] of Object.entries(defaultHeaders('http://api.test')))
        expect(head).toContain(`\r\n${name}: ${value}\r\n`);
      expect(head).toContain(
        `\r\nlink: ${printHelpLink('http://api.test', 'invalid_request')}\r\n`,
      );
      const read = { status: Number(status.split(' ')[0]), body: JSON.parse(body) };
      expect(read.body).toMatchObject({ error: { code: 'invalid_request' } });
      for (const { method, path } of endpoints) expectDocumented({ method, path, ...read });
    },
  );

  it.each([
    ['two Hosts', 'GET', 400, 'not exactly one Host', `${HEAD}Host: b\r\n\r\n`],
    ['garbage', 'none', 400, expect.stringContaining('HTTP'), 'what is this\r\n\r\n'],
    [
      'a head that is too large',
      'none',
      431,
      expect.stringContaining('16 KiB'),
      `${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
  ])(
    'logs %s under the request id of its answer, and counts it',
    async (_what, method, status, reason, bytes) => {
      const sample = `tintype_api_request_seconds_count{method="${method}",route="none",status="${status}"}`;
      const count = async () =>
        Number(metricValue((await options.metrics.print()).text, sample) ?? 0);
      const before = await count();
      lines.length = 0;
      const [, request_id] = /\r\nx-request-id: ([0-9a-f-]{36})\r\n/.exec(await sent(bytes)) ?? [];
      const line = { method, route: 'none', status, code: 'invalid_request', reason, request_id };
      expect(lines.map((each) => JSON.parse(each))).toMatchObject([{ msg: 'request', ...line }]);
      expect(await count()).toBe(before + 1);
    },
  );

  it('closes a connection without a response if no request arrives, and logs nothing', async () => {
    lines.length = 0;
    expect(await sent('')).toBe('');
    expect(lines).toEqual([]);
  });

  it('names what is wrong with a request whose head it could read', async () => {
    const absolute = await sent('GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(absolute).toContain(
      '"The request is not valid HTTP: a request target for another host. Check',
    );
    const hostless = await sent('GET / HTTP/1.1\r\n\r\n');
    expect(hostless).toContain('"The request is not valid HTTP: not exactly one Host. Check');
  });

  it('accepts HTTP/1.0 without a Host, but not with an absolute target', async () => {
    expect(await sent('GET /1 HTTP/1.0\r\n\r\n')).toContain('read /1');
    expect(await sent('GET http://b/1 HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['http://a/1?b=c', 'a', 'read /1?b=c'],
    ['HTTP://A:80/1', 'a:80', 'read /1'],
    ['https://a', 'a', 'read /\n'],
    ['http://a?b', 'a', 'read /?b\n'],
    ['http://a//b', 'a', 'read //b\n'],
  ])('accepts the absolute form %s with Host %s', async (target, name, read) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
    expect(`${await sent(head)}\n`).toContain(read);
  });

  it.each([
    ['http://a:80/1', 'a'],
    ['http://a@b/1', 'b'],
    ['http:///1', 'a'],
    ['ftp://a/1', 'a'],
    ['http:a/1', 'a'],
  ])('rejects the absolute form %s with Host %s', async (target, name) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
    expect(await sent(head)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('ignores an unknown value of Expect', async () => {
    const bytes = `POST /1 HTTP/1.1\r\nHost: a\r\nExpect: foo\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    expect(await sent(bytes)).toMatch(/^HTTP\/1\.1 200 OK\r\nx-request-id: /);
  });

  it('answers pipelined requests in order', async () => {
    const requests = ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const last = 'GET /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const answers = await sent([...requests, last].join(''));
    expect(answers.match(/read \/\d/g)).toEqual(['read /1', 'read /2', 'read /3', 'read /4']);
  });

  it('answers a valid request even if invalid bytes follow it, with no 400 in its place', async () => {
    const answers = await sent(`GET /1 HTTP/1.1\r\nHost: a\r\n\r\nwhat is this\r\n\r\n`);
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answers).toContain('read /1');
    expect(answers).not.toContain(' 400 ');
  });

  it('closes the connection after an upgrade request, and does not answer what follows it', async () => {
    const offer = 'GET /1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const answers = await sent(`${offer}GET /2 HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answers.match(/read \/\d/g)).toEqual(['read /1']);
    expect(answers).toMatch(/\r\nconnection: close\r\n/i);
  });

  it.each([
    ['http://api.test', null],
    ['https://api.test', 'max-age=31536000'],
  ])(
    'sends Strict-Transport-Security only if its base URL uses https: %s',
    async (baseUrl, seen) => {
      const own = createApiServer((_request, response) => response.end(), { ...options, baseUrl });
      own.listen(0, '127.0.0.1');
      await once(own, 'listening');
      const { port } = own.address() as AddressInfo;
      const { headers } = await fetch(`http://127.0.0.1:${port}/`);
      own.close();
      expect(headers.get('strict-transport-security')).toBe(seen);
    },
  );

  it('keeps idle connections open for longer than the proxies in front of it', () => {
    const usual = createApiServer(() => undefined, options);
    // Envoy's default is an hour.
    expect(usual.keepAliveTimeout).toBeGreaterThan(3_600_000);
  });

  it('waits ten seconds for the head of a request, and has no timeout for the whole request', () => {
    const usual = createApiServer(() => undefined, options);
    expect([usual.headersTimeout, usual.requestTimeout]).toEqual([10_000, 0]);
  });
});

describe('reading a request body', () => {
  const ended: PromiseWithResolvers<number>[] = [];
  const server = createApiServer((request) => void read(request), options);

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  async function read(request: IncomingMessage): Promise<void> {
    let bytes = 0;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) bytes += chunk.length;
      ended[0]?.resolve(bytes);
    } catch (error) {
      ended[0]?.reject(error);
    }
  }

  it.each([
    ['the client disconnects', ''],
    ['an invalid chunk', 'zz\r\n'],
  ])('fails if no more of it can arrive: %s', async (_what, bytes) => {
    ended.unshift(Promise.withResolvers());
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
    socket.end(
      `PUT / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n${bytes}`,
    );
    await expect(ended[0]?.promise).rejects.toThrow('Premature close');
  });
});

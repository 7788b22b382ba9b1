// Spec: Watermark preset.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { downloadPublic } from '../../../runtime/platform/public-download.ts';
import { publicLookup } from '../../../runtime/platform/public-lookup.ts';
import { type DnsStub, startDnsStub } from '../../support/dns-stub.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

let dns: DnsStub;

beforeAll(async () => {
  dns = await startDnsStub();
});
afterAll(() => dns.close());

const download = (url: string) =>
  downloadPublic(url, {
    bytes_max: 1000,
    deadline_ms: 2000,
    lookup: publicLookup([dns.server]),
  });

it('downloadPublic rejects a non-public address, however it is written', async () => {
  const hosts = [
    ...['127.0.0.1', '127.1', '0x7f.1', '2130706433', '169.254.169.254', '10.0.0.1', '100.64.0.1'],
    ...['[::1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[fd00:ec2::254]', 'user@192.168.0.1'],
  ];
  for (const host of hosts) {
    const { fault } = { fault: '', ...(await download(`https://${host}/a.png`)) };
    expect(fault, host).toMatch(/^expected a public address/);
  }
});

it('downloadPublic rejects a name with a non-public address, even among public ones', async () => {
  for (const inside of ['127.0.0.1', '169.254.169.254', '10.96.0.1']) {
    dns.answer((_, family) => (family === 4 ? ['1.1.1.1', inside] : []));
    expect(await download('https://pictures.test/a.png')).toEqual({
      fault: 'pictures.test resolves to a private or reserved address',
    });
  }
});

it('downloadPublic rejects http and ports other than 443 and 8443', async () => {
  expect(await download('http://pictures.test:443/a.png')).toEqual({
    fault: 'expected an https URL',
  });
  for (const port of ['22', '6443', '10250']) {
    expect(await download(`https://pictures.test:${port}/a.png`)).toEqual({
      fault: 'expected port 443 or 8443',
    });
  }
});

it('downloadPublic rejects a URL with a user name and password, and an invalid URL', async () => {
  expect(await download('https://user:password@pictures.test/a.png')).toEqual({
    fault: 'expected a URL without user name and password',
  });
  expect(await download('https://[::g]/a.png')).toEqual({ fault: 'expected an https URL' });
});

describe('a download from a public server', () => {
  const { key, cert } = makeSelfSigned('pictures.test');
  const trusted = getCACertificates();
  let server: Server;
  let serve: RequestListener;
  let port: number;

  beforeAll(async () => {
    setDefaultCACertificates([...trusted, cert]);
    server = createServer({ key, cert }, (request, response) => serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    server.closeAllConnections();
    server.close();
  });

  /** Resolves names to loopback, because a test's server has no public address. */
  const fetched = (deadline_ms = 60_000) =>
    downloadPublic(`https://pictures.test:${port}/a.png`, {
      ...{ bytes_max: 1000, deadline_ms, ports: [port] },
      lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    });

  it('returns the bytes that the server sent', async () => {
    serve = (_, response) => response.end('bytes');
    expect(await fetched()).toEqual({ bytes: Buffer.from('bytes') });
  });

  it('uses a new connection each time, whose address is checked', async () => {
    serve = (_, response) => response.end('bytes');
    let connections = 0;
    const count = () => void connections++;
    server.on('connection', count);
    for (let time = 0; time < 3; time++) expect(await fetched()).toHaveProperty('bytes');
    server.off('connection', count);
    expect(connections).toBe(3);
  });

  it.each([
    [204, 'only a 200 has an image'],
    [302, 'redirects are not followed'],
    [404, 'only a 200 has an image'],
  ])('reports a response with status %i', async (status, why) => {
    serve = (_, response) => response.writeHead(status, { location: '/b.png' }).end();
    expect(await fetched()).toEqual({ fault: `it answered ${status}: ${why}` });
  });

  it.each<[string, RequestListener]>([
    ['without an answer', () => undefined],
    ['in the middle of its bytes', (_, response) => void response.write('byt')],
  ])('times out if the server stops %s', async (_, silent) => {
    serve = silent;
    expect(await fetched(500)).toEqual({ fault: 'it took longer than 0.5 seconds' });
  });

  it.each<[string, RequestListener]>([
    ['before its answer', ({ socket }) => void socket.destroy()],
    [
      'in the middle of its bytes',
      ({ socket }, response) =>
        void response.writeHead(200, { 'content-length': 9 }).write('byt', () => socket.end()),
    ],
  ])('reports a connection that is cut %s', async (_, cut) => {
    serve = cut;
    expect(await fetched()).toEqual({
      fault: 'the connection was cut before all of it had arrived',
    });
  });

  it('reports more bytes than are allowed', async () => {
    serve = (_, response) => response.end(Buffer.alloc(1001));
    expect(await fetched()).toEqual({ fault: 'it has more than 1000 bytes' });
  });
});

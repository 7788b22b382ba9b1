// Spec: Watermark preset.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { downloadPublic } from '../../../runtime/platform/public-download.ts';
import { publicLookup } from '../../../runtime/platform/public-lookup.ts';
import { type DnsStub, startDnsStub } from '../../support/dns-stub.ts';

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

it('a declared picture is never fetched from an address inside, however it is written', async () => {
  const hosts = [
    ...['127.0.0.1', '127.1', '0x7f.1', '2130706433', '169.254.169.254', '10.0.0.1', '100.64.0.1'],
    ...['[::1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[fd00:ec2::254]', 'user@192.168.0.1'],
  ];
  for (const host of hosts) {
    const { fault } = { fault: '', ...(await download(`https://${host}/a.png`)) };
    expect(fault, host).toMatch(/^expected a public address/);
  }
});

it('nor from a name that leads inside at the moment of the connection, whatever stands beside it', async () => {
  for (const inside of ['127.0.0.1', '169.254.169.254', '10.96.0.1']) {
    dns.answer((_, family) => (family === 4 ? ['1.1.1.1', inside] : []));
    expect(await download('https://pictures.test/a.png')).toEqual({
      fault: 'pictures.test resolves to a private or reserved address',
    });
  }
});

it('nor over http, nor at the port of another service', async () => {
  expect(await download('http://pictures.test:443/a.png')).toEqual({
    fault: 'expected an https URL',
  });
  for (const port of ['22', '6443', '10250']) {
    expect(await download(`https://pictures.test:${port}/a.png`)).toEqual({
      fault: 'expected port 443 or 8443',
    });
  }
});

it('nor with a user name or password, nor from what is no URL', async () => {
  expect(await download('https://user:password@pictures.test/a.png')).toEqual({
    fault: 'expected a URL without user name and password',
  });
  expect(await download('https://[::g]/a.png')).toEqual({ fault: 'expected an https URL' });
});

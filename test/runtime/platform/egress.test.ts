// Spec: Events (the callback URL must be https and resolve to a public address).
import { lookup } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { egressFault, isPublicAddress } from '../../../runtime/platform/egress.ts';
import { publicLookup } from '../../../runtime/platform/public-lookup.ts';
import { type DnsStub, startDnsStub } from '../../support/dns-stub.ts';

describe('isPublicAddress', () => {
  it('accepts public unicast addresses', () => {
    for (const address of ['1.1.1.1', '203.0.112.1', '2606:4700::1', '2a00:1450:4001::1']) {
      expect(isPublicAddress(address), address).toBe(true);
    }
  });

  it('rejects loopback, private, link-local, shared, reserved, multicast and platform addresses', () => {
    const wrong = [
      ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254'],
      ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1'],
      ...['192.168.0.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
      ...['255.255.255.255', '168.63.129.16'],
      ...['::', '::1', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1', '2001:db8::1'],
      ...['100::1', '100:0:0:1::1', '3fff::1', '5f00::1', '4000::1', '2001:2::1'],
    ];
    for (const address of wrong) expect(isPublicAddress(address), address).toBe(false);
  });

  it('rejects IPv6 addresses that embed an IPv4 address', () => {
    const carriers = [
      ...['::ffff:1.1.1.1', '::1.1.1.1', '::ffff:0:1.1.1.1', '64:ff9b::101:101', '64:ff9b:1::1'],
      ...['2002:101:101::1', '2001:0:101:101::1'],
      ...[
        '2001:470:1:2::5efe:1.1.1.1',
        '2001:470:1:2:200:5efe:101:101',
        '2001:470:1:2::5efe:1.1.1.1%eth0',
      ],
    ];
    for (const address of carriers) expect(isPublicAddress(address), address).toBe(false);
  });

  it('rejects text that is not an address', () => {
    for (const text of ['', 'localhost', '1.1.1.1.1', '1.1.1.256', 'x::1', '1.1.1.1/8']) {
      expect(isPublicAddress(text), text).toBe(false);
    }
  });
});

describe('egressFault', () => {
  let dns: DnsStub;
  const fault = (url: string) => egressFault(url, 'public', [dns.server]);

  beforeAll(async () => {
    dns = await startDnsStub();
  });
  afterAll(() => dns.close());

  it('accepts https to a public address', async () => {
    expect(await fault('https://1.1.1.1/hook')).toBeUndefined();
    expect(await fault('https://[2606:4700::1]:8443/')).toBeUndefined();
  });

  it('rejects a name if any of its addresses is not public', async () => {
    const faultOf = (v4: string, v6: string) => {
      dns.answer((_, family) => [family === 4 ? v4 : v6]);
      return fault('https://two.example/');
    };
    expect(await faultOf('1.1.1.1', '2606:4700::1')).toBeUndefined();
    expect(await faultOf('10.0.0.1', '2606:4700::1')).toContain('private or reserved');
    expect(await faultOf('1.1.1.1', '::1')).toContain('private or reserved');
  });

  it('says what was expected', async () => {
    expect(await fault('http://1.1.1.1/')).toBe('expected an https URL');
    dns.answer((name, family) => (name === 'inside.example' && family === 4 ? ['10.0.0.1'] : []));
    expect(await fault('https://inside.example/')).toBe(
      'expected a public address; inside.example resolves to a private or reserved one',
    );
    expect(await fault('https://nowhere.example/')).toBe(
      'expected a host that resolves; nowhere.example does not',
    );
  });

  it.each(['localhost', 'localhost.', 'site.localhost', '10.0.0.1'])(
    'rejects %s as no public address, whatever a name server says',
    async (host) => {
      dns.answer((_, family) => (family === 4 ? ['1.1.1.1'] : []));
      expect(await fault(`https://${host}/`)).toBe(
        `expected a public address; ${host} is a private or reserved one`,
      );
      expect(await fault('https://notlocalhost/')).toBeUndefined();
    },
  );

  it('resolves a good name within a second while many silent ones are looked up', async () => {
    dns.answer((name, family) =>
      name !== 'good.example' ? undefined : family === 4 ? ['1.1.1.1'] : [],
    );
    const silent = Array.from({ length: 20 }, (_, index) => fault(`https://s${index}.example/`));
    const began = performance.now();
    expect(await fault('https://good.example/')).toBeUndefined();
    await lookup('localhost');
    expect(performance.now() - began).toBeLessThan(1000);
    const faults = await Promise.all(silent);
    expect(performance.now() - began).toBeLessThan(6000);
    expect(faults[0]).toBe('expected a host that resolves; s0.example does not');
  }, 15_000);

  it('accepts a name if name servers answer for one family only, and calls use that family', async () => {
    const stubs = await Promise.all([startDnsStub(), startDnsStub(), startDnsStub()]);
    for (const stub of stubs) stub.answer((_, family) => (family === 4 ? ['1.1.1.1'] : undefined));
    const servers = stubs.map(({ server }) => server);
    const began = performance.now();
    const called = new Promise((resolve) =>
      publicLookup(servers)('half.example', {}, (_, address) => resolve(address)),
    );
    expect(await egressFault('https://half.example/', 'public', servers)).toBeUndefined();
    expect(await called).toBe('1.1.1.1');
    // The deadline of a whole call is ten seconds.
    expect(performance.now() - began).toBeLessThan(8000);
    await Promise.all(stubs.map((stub) => stub.close()));
  }, 20_000);

  it('accepts any address if egress is any', async () => {
    expect(await egressFault('http://127.0.0.1:9/', 'any')).toBeUndefined();
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CORS_ORIGIN_PATTERN,
  parseCallbackUrl,
  parseCorsOrigin,
  parseEmbedOrigin,
  parseHostname,
} from '../../../../runtime/core/resources/web-address.ts';

describe('parseEmbedOrigin', () => {
  it.each([
    ['https://shop.example', 'https://shop.example'],
    ['HTTPS://Shop.Example', 'https://shop.example'],
    ['https://shop.example:8443', 'https://shop.example:8443'],
    ['https://shop.example:443', 'https://shop.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://localhost:80', 'http://localhost:80'],
    ['http://127.0.0.1:80', 'http://127.0.0.1:80'],
    ['HTTP://LocalHost:1', 'http://localhost:1'],
    ['https://127.0.0.1', 'https://127.0.0.1'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['https://shop.example:65535', 'https://shop.example:65535'],
  ])('reads %s as %s', (text, origin) => expect(parseEmbedOrigin(text)).toBe(origin));

  it.each([
    'http://shop.example',
    'http://localhost',
    'http://localhost:0',
    'http://localhost:080',
    'http://localhost:65536',
    'http://127.1:80',
    'http://[::1]:80',
    'https://a..b',
    'https://.a.b',
    'https://a.b.',
    'https://a.b:0',
    'https://a.b:00443',
    'https://a.b:',
    'https://-',
    'https://-a.b',
    'https://a-.b',
    'https://1',
    'https://1.2.3',
    'https://0x7f.1',
    'https://2130706433',
    'https://256.1.1.1',
    `https://${'a'.repeat(64)}.example`,
    'http://localhost.evil.example:3000',
    'http://127.0.0.2:80',
    'https://shop.example/',
    'https://shop.example/path',
    'https://*.shop.example',
    'https://user@shop.example',
    'https://shop.example?x',
    'https://shop.example#x',
    'https://shop.example\\@evil.example',
    'https://shop.example:99999',
    'https://',
    '*',
    'null',
    '',
    ' https://shop.example',
    'javascript:alert(1)',
  ])('rejects %j', (text) => expect(parseEmbedOrigin(text)).toBeUndefined());

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        const origin = parseEmbedOrigin(new URL(url).origin);
        if (origin !== undefined) expect(parseEmbedOrigin(origin)).toBe(origin);
      }),
    );
  });
});

describe('parseCorsOrigin', () => {
  it('accepts http, an IPv6 address and *', () => {
    expect(parseCorsOrigin('*')).toBe('*');
    expect(parseCorsOrigin('http://shop.example')).toBe('http://shop.example');
    expect(parseCorsOrigin('https://[::1]:8080')).toBe('https://[::1]:8080');
    expect(parseCorsOrigin('shop.example')).toBeUndefined();
  });

  it.each(['https://-', 'https://a..b', 'https://1', 'http://a.b:0', 'http://[::1', 'http://[1]'])(
    'rejects %j',
    (text) => expect(parseCorsOrigin(text)).toBeUndefined(),
  );

  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  const hosts = fc.oneof(
    fc.domain(),
    ...[fc.ipV4(), fc.ipV6().map((address) => `[${address}]`)],
    fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
    fc.stringMatching(/^[a-zA-Z0-9.-]{1,20}$/),
  );
  const origins = fc
    .tuple(fc.constantFrom('http', 'https', 'HTTPS'), hosts, fc.option(fc.nat(70_000)))
    .map(([scheme, host, port]) => `${scheme}://${host}${port === null ? '' : `:${port}`}`);

  it('returns only origins that match CORS_ORIGIN_PATTERN', () => {
    fc.assert(
      fc.property(origins, (text) => {
        const origin = parseCorsOrigin(text);
        fc.pre(origin !== undefined);
        expect(origin).toMatch(CORS_ORIGIN_PATTERN);
      }),
    );
    expect('*').toMatch(CORS_ORIGIN_PATTERN);
  });

  it.each([
    ...['not an origin', '', ' ', '**', 'null', 'shop.example', 'ftp://shop.example', 'https://'],
    ...['https://shop.example/', 'https://Shop.example', 'https://*.shop.example', 'https://a..b'],
    ...['https://user@shop.example', 'https://shop.example:0', 'https://shop.example:'],
  ])('CORS_ORIGIN_PATTERN does not match %j', (text) =>
    expect(text).not.toMatch(CORS_ORIGIN_PATTERN),
  );
});

describe('parseHostname', () => {
  it('accepts names of two or more labels and lower-cases them', () => {
    expect(parseHostname('IMG.Shop.Example')).toBe('img.shop.example');
    expect(parseHostname('xn--bcher-kva.example')).toBe('xn--bcher-kva.example');
  });

  it.each([
    '',
    'shop',
    'a.b.',
    '.a.b',
    '1.2.3.4',
    '[::1]',
    'a_b.example',
    'a.example:80',
    '-a.example',
    'a.e',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(130)}example`,
    'é.example',
    'a.example\n',
  ])('rejects %j', (text) => expect(parseHostname(text)).toBeUndefined());
});

describe('parseCallbackUrl', () => {
  it('returns a valid URL as it was written', () => {
    for (const url of [
      'https://shop.example/hook?x=1',
      'http://127.0.0.1:9000/',
      'https://Shop.Example./',
      'https://xn--bcher-kva.example?x',
      'https://[2001:db8::1]:8443',
      `https://a.example/${'\u{1f4f7}'.repeat(2030)}`,
    ]) {
      expect(parseCallbackUrl(url)).toBe(url);
    }
  });

  it.each([
    '',
    'shop.example',
    'ftp://a.example',
    'https://u:p@a.example/',
    'https://a.example/#x',
    'https://',
    'https://a b',
    'https://a.example:99999',
    'https://bücher.example/',
    'https://a%2Eexample/',
    'https://\u212Ahook.example/',
    'https://0x7f.1/',
    'https://[2001:db8:0::1]/',
    `https://a.example/${'x'.repeat(2048)}`,
    `https://a.example/${'\u{1f4f7}'.repeat(2031)}`,
    'https://a.example/\ud83d',
  ])('rejects %j', (text) => expect(parseCallbackUrl(text)).toBeUndefined());
});

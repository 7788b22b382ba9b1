// The contract of docs/scanner.md, against a real server that complies with it, and one that does not.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { openHttpScanner } from '../../../../runtime/platform/scanner/http-scanner.ts';
import { ScannerFault } from '../../../../runtime/platform/scanner/scanner.ts';
import {
  drips,
  floods,
  hangs,
  type ScannerServer,
  says,
  scores,
  startScannerServer,
} from '../../../support/scanner-server.ts';

const never = new AbortController().signal;
const picture = Buffer.from('a picture');
let server: ScannerServer;

beforeAll(async () => {
  server = await startScannerServer();
});
beforeEach(() => {
  server.seen.length = 0;
});
afterAll(() => server.close());

const open = (url = server.url, deadline_ms = 10_000) =>
  openHttpScanner({ url, clock: systemClock, deadline_ms });
const faultOf = async (work: Promise<unknown>): Promise<ScannerFault> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ScannerFault) return error;
  throw new Error(`expected a ScannerFault, not ${String(error)}`);
};

describe('a model server', () => {
  it('is called over TLS if its URL begins with HTTPS: in upper case', async () => {
    const url = server.url.replace('http:', 'HTTPS:');
    const { cause } = await faultOf(open(url).scan(picture, never));
    // The client has tried TLS, which the server does not speak.
    expect(cause).toMatchObject({ code: 'EPROTO' });
  });

  it('receives the picture unchanged, and its scores are returned', async () => {
    server.answer(scores({ nudity: 0.98, violence: 0 }));
    expect(await open().scan(picture, never)).toEqual({ nudity: 0.98, violence: 0 });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.bytes.equals(picture)).toBe(true);
    expect(server.seen[0]?.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '9',
      accept: 'application/json',
    });
  });

  it('receives the name and password of its URL as basic authentication', async () => {
    server.answer(scores({}));
    await open(server.url.replace('http://', 'http://tin:type@')).scan(picture, never);
    const basic = `Basic ${Buffer.from('tin:type').toString('base64')}`;
    expect(server.seen[0]?.headers.authorization).toBe(basic);
  });

  it.each([400, 413, 415, 422])(
    'refuses the picture, without being reported as away, if it answers %i',
    async (status) => {
      server.answer(says(status));
      const scanner = open();
      for (let n = 0; n < 6; n += 1)
        expect((await faultOf(scanner.scan(picture, never))).kind).toBe('refused');
      expect(scanner.isResting()).toBe(false);
    },
  );

  it.each([
    ['500', says(500)],
    ['404', says(404)],
    ['204', says(204)],
    ['a redirect, which is not followed', says(307, '', { location: '/elsewhere' })],
    ['no JSON', says(200, '<html>')],
    ['no scores', says(200, '{"nudity": 1}')],
    ['a score above 1', says(200, '{"scores": {"nudity": 98}}')],
    ['a score that is text', says(200, '{"scores": {"nudity": "0.98"}}')],
    ['names that are none', says(200, '{"scores": {"__proto__\\n": 1}}')],
    ['more than 64 KiB', says(200, `{"scores": {}, "pad": "${'x'.repeat(65_536)}"}`)],
    ['bytes without an end', floods],
  ])('is reported as away if it answers %s', async (_name, answer) => {
    server.answer(answer);
    expect((await faultOf(open().scan(picture, never))).kind).toBe('away');
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ['hangs', hangs],
    ['drips', drips],
  ])('is reported as away at the deadline if it %s', async (_name, answer) => {
    server.answer(answer);
    const fault = await faultOf(open(server.url, 100).scan(picture, never));
    expect([fault.kind, fault.message]).toEqual([
      'away',
      'the scanner gave no complete answer within 0.1 s',
    ]);
  });

  it('is reported as away, naming TINTYPE_SCANNER_URL, if it cannot be reached', async () => {
    const fault = await faultOf(open('http://127.0.0.1:1/scan').scan(picture, never));
    expect(fault.kind).toBe('away');
    expect(fault.message).toContain('TINTYPE_SCANNER_URL');
  });

  it('sets the time of the next attempt with Retry-After', async () => {
    server.answer(says(429, '', { 'retry-after': '77' }));
    expect((await faultOf(open().scan(picture, never))).retry_after_seconds).toBe(77);
  });

  it('rests after five failures in a row, and is then tried once', async () => {
    let now = new Date();
    const scanner = openHttpScanner({ url: server.url, clock: { now: () => now } });
    server.answer(says(500));
    for (let n = 0; n < 5; n += 1) {
      expect(scanner.isResting()).toBe(false);
      await faultOf(scanner.scan(picture, never));
    }
    expect(scanner.isResting()).toBe(true);
    now = new Date(now.getTime() + 15_000);
    expect([scanner.isResting(), scanner.isResting()]).toEqual([false, true]);
    server.answer(scores({}));
    await scanner.scan(picture, never);
    expect(scanner.isResting()).toBe(false);
  });

  it('does not delay a process that ends, which is not a failure of the server', async () => {
    server.answer(hangs);
    const scanner = open();
    const ending = new AbortController();
    const scan = scanner.scan(picture, ending.signal);
    ending.abort(new Error('the process ends'));
    await expect(scan).rejects.toThrow('the process ends');
    expect(scanner.isResting()).toBe(false);
  });
});

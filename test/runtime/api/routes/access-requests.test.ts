// Spec: Public (access-requests); Rates; Staff (access-requests).
import { beforeEach, describe, expect, it } from 'vitest';
import { createRates } from '../../../../runtime/api/rates/rates.ts';
import { accessRequestRecord } from '../../../../runtime/core/resources/access-request.ts';
import { codeOf, expectRecord, issuesOf, newSubject } from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { untilEarlyInMinute } from '../../../support/minute.ts';
import { randomHash } from '../../../support/rows.ts';

const api = useApi();
const staff = api.session(STAFF_SUBJECT);
const PATH = '/v1/public/access-requests';

beforeEach(async () => {
  await api.db.query('delete from access_requests');
  await api.db.query('delete from rate_windows');
});

const email = () => `${newSubject()}@example.com`;
const post = (body: unknown, headers: Record<string, string> = {}) =>
  api.send({ method: 'POST', path: PATH, body, headers });
const stored = () => api.db.query<{ email: string }>('select * from access_requests');
const withRates = (trustedProxies: string[]) =>
  api.change({
    rates: createRates({ ...api.deps(), failedAuthenticationsPerMinute: 20, writesPerMinute: 600 }),
    settings: { trustedProxies },
  });

describe('POST /v1/public/access-requests', () => {
  it('returns 202, and staff see everything that was sent except the IP hash', async () => {
    const sent = {
      email: email(),
      name: 'Ada',
      company: null,
      url: 'https://shop.example',
      message: 'Hello\nthere',
      use_case: 'Shoes',
      plan_interest: 'builder',
      locale: 'de',
    };
    const answer = await post({ ...sent, source_ip_hash: { any: 'thing' } });
    expect(answer).toMatchObject({ status: 202, body: { accepted: true } });
    const { body } = await staff('GET', '/v1/staff/access-requests?status=new');
    expectRecord(accessRequestRecord, body.items[0]);
    expect(body.items).toMatchObject([{ ...sent, status: 'new' }]);
    expect(Object.keys(body.items[0])).not.toContain('source_ip_hash');
    expect((await staff('GET', '/v1/staff/access-requests?status=done')).body.items).toEqual([]);
  });

  it.each([{ language: 'de' }, 5, 'x'.repeat(1000), null])(
    'is not refused for the locale %j',
    async (locale) => {
      expect((await post({ email: email(), locale })).status).toBe(202);
      const { body } = await staff('GET', '/v1/staff/access-requests');
      expect(body.items).toMatchObject([{ locale: null }]);
    },
  );

  it.each([
    [{}, 'email'],
    [{ email: 'ada' }, 'email'],
    [{ email: `${'a'.repeat(250)}@example.com` }, 'email'],
    [{ email: `${'a'.repeat(65)}@example.com` }, 'email'],
    [{ email: `a@${'b'.repeat(64)}.example` }, 'email'],
    [{ email: 'a@b-.example' }, 'email'],
    [{ email: 'a@example.com', name: 1 }, 'name'],
    [{ email: 'a@example.com', plan_interest: 'huge' }, 'plan_interest'],
    [{ email: 'a@example.com', message: 'x'.repeat(4001) }, 'message'],
    [{ email: 'a@example.com', admin: true }, 'admin'],
  ])('returns 400 invalid_request naming the wrong field of %j', async (body, field) => {
    const answer = await post(body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([field]);
    expect(await stored()).toEqual([]);
  });

  it('returns 413 payload_too_large for a body that is too large', async () => {
    const body = { email: email(), message: 'x'.repeat(300_000) };
    expect(codeOf(await post(body))).toBe('413 payload_too_large');
  });

  it('accepts three requests per hour for one e-mail address, ignoring its letter case', async () => {
    const address = email();
    const answers = await Promise.all(
      [address, address.toUpperCase(), address, address, address].map((each) =>
        post({ email: each }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 202, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused?.body.error.message).toMatch(
      /^Too many requests for access for one e-mail address: 3 an hour are allowed\. Wait \d+ second/,
    );
    expect(await stored()).toHaveLength(3);
    expect((await post({ email: email() })).status).toBe(202);
  });
});

describe('the rate limit of access requests per client address', { timeout: 300_000 }, () => {
  const statuses = async (count: number, headers: () => Record<string, string>) => {
    const answers = [];
    for (let n = 0; n < count; n += 1) answers.push(await post({ email: email() }, headers()));
    return answers.map(({ status }) => status);
  };
  const TEN = Array(10).fill(202);

  it('allows ten per minute', async () => {
    await untilEarlyInMinute(api.db);
    withRates(['127.0.0.1']);
    const from = (address: string) => () => ({ 'x-forwarded-for': address });
    expect(await statuses(11, from('203.0.113.9'))).toEqual([...TEN, 429]);
    expect(await statuses(1, from('203.0.113.10'))).toEqual([202]);
  });

  it('counts requests that are refused for their bodies, also for what is no JSON', async () => {
    await untilEarlyInMinute(api.db);
    withRates([]);
    const send = (raw: string) => api.send({ method: 'POST', path: PATH, raw });
    const codes = [];
    for (let n = 0; n < 5; n += 1) codes.push(codeOf(await send('{')), codeOf(await send('{}')));
    expect(new Set(codes)).toEqual(new Set(['400 invalid_json', '400 invalid_request']));
    expect(codeOf(await send('{'))).toBe('429 rate_limited');
    expect(await statuses(1, () => ({}))).toEqual([429]);
  });

  it('uses the client IP hash only if every proxy hop is trusted', async () => {
    await untilEarlyInMinute(api.db);
    const hashed = (address: string) => () => ({
      'x-forwarded-for': address,
      'x-service-client-ip-hash': randomHash(),
    });
    withRates(['127.0.0.1', '10.0.0.0/8']);
    expect(await statuses(12, hashed('10.1.2.3'))).toEqual(Array(12).fill(202));
    expect(await statuses(11, hashed('203.0.113.11'))).toEqual([...TEN, 429]);
    expect(await statuses(11, hashed('203.0.113.12, 10.1.2.3'))).toEqual([...TEN, 429]);
    withRates([]);
    expect(await statuses(11, hashed('10.1.2.3'))).toEqual([...TEN, 429]);
  });
});

describe('CORS for access requests', () => {
  const preflight = (origin: string) =>
    api.send({
      method: 'OPTIONS',
      path: PATH,
      headers: { origin, 'access-control-request-method': 'POST' },
    });

  it.each([
    'https://www.example.com',
    'http://localhost:3000',
    'http://localhost',
    'http://127.0.0.1:3000',
    'https://[::1]:3000',
  ])('allows %s', async (origin) => {
    api.change({ settings: { marketingOrigins: ['https://www.example.com'] } });
    const allowed = await preflight(origin);
    expect(allowed.headers['access-control-allow-origin']).toBe(origin);
    const answer = await post({ email: email() }, { origin });
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
  });

  it.each([
    'https://evil.example',
    'https://localhost.evil.example',
    'http://localhost:3000.evil.example',
  ])('does not allow %s', async (origin) => {
    api.change({ settings: { marketingOrigins: ['https://www.example.com'] } });
    expect((await preflight(origin)).headers['access-control-allow-origin']).toBeUndefined();
    const answer = await post({ email: email() }, { origin });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { createMinuteRate } from '../../../../runtime/api/rates/minute-rate.ts';
import { createRates } from '../../../../runtime/api/rates/rates.ts';
import { newApiKey } from '../../../../runtime/core/signing/api-key.ts';
import type { Queryable } from '../../../../runtime/db/client.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { createKey, createProject, newSubject } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { untilEarlyInMinute } from '../../../support/minute.ts';

const log = createLog({ level: 'silent', name: 'test' });
const api = useApi();
const { db } = api;

/** Takes concurrently, `times` calls in each process, and returns how many were allowed. */
async function takeAll(processes: number, times: number, limit: number): Promise<number> {
  const terms = { db, clock: systemClock, log, scope: 'write', limit } as const;
  const rates = Array.from({ length: processes }, () => createMinuteRate(terms));
  const subject = `limit-${limit}`;
  const calls = rates.flatMap((rate) => Array.from({ length: times }, () => rate.take(subject)));
  const taken = await Promise.allSettled(calls);
  return taken.filter(({ status }) => status === 'fulfilled').length;
}

describe('a limit per minute', { timeout: 300_000 }, () => {
  it('is exact across three processes if it is small', async () => {
    await untilEarlyInMinute(db);
    expect(await takeAll(3, 30, 20)).toBe(20);
  });

  it('is fully used but never exceeded when processes take several permits at a time', async () => {
    await untilEarlyInMinute(db);
    expect(await takeAll(3, 300, 500)).toBe(500);
    expect(await takeAll(1, 600, 510)).toBe(510);
    // Each process wants more than the whole limit, so none keeps calls that it does not use.
    expect(await takeAll(3, 600, 599)).toBe(599);
  });

  it('says when the minute is over, and does not query the database until then', async () => {
    let asked = 0;
    const full: Queryable = {
      query: async <Row>() => {
        asked += 1;
        return [{ is_allowed: false, retry_after_seconds: 50 }] as Row[];
      },
    };
    const clock = createManualClock();
    const rate = createMinuteRate({ db: full, clock, log, scope: 'write', limit: 1 });
    await expect(rate.take('a')).rejects.toMatchObject({ retryAfterSeconds: 50 });
    clock.advance(20);
    const message =
      'Too many writes to one project: 1 a minute are allowed. Wait 30 seconds, then continue more slowly.';
    await expect(rate.take('a')).rejects.toMatchObject({ retryAfterSeconds: 30, message });
    expect(asked).toBe(1);
    clock.advance(30);
    await expect(rate.take('a')).rejects.toMatchObject({ code: 'rate_limited' });
    expect(asked).toBe(2);
  });

  it('is counted by each process separately while the database is unavailable', async () => {
    const away: Queryable = { query: () => Promise.reject(new Error('away')) };
    const rate = createMinuteRate({ db: away, clock: systemClock, log, scope: 'write', limit: 3 });
    for (let n = 0; n < 3; n += 1) await rate.take('a');
    await expect(rate.take('a')).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

/** Counts queries (running, most at a time, all), and answers them when released. */
function heldQueries() {
  const [seen, held] = [{ now: 0, most: 0, all: 0 }, Promise.withResolvers<void>()];
  const query: typeof db.query = async (text, values) => {
    seen.all += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await held.promise;
    seen.now -= 1;
    return db.query(text, values);
  };
  return { query, seen, release: held.resolve };
}

describe('rate limits of the API', { timeout: 300_000 }, () => {
  const small = (failed: number, writes: number) =>
    createRates({
      ...api.deps(),
      failedAuthenticationsPerMinute: failed,
      writesPerMinute: writes,
    });
  const from = (address: string, key: string) =>
    api.send({ path: '/v1/key', headers: { 'x-api-key': key, 'x-forwarded-for': address } });

  it('reject repeated failed authentications from an address with 429, but not valid credentials', async () => {
    await untilEarlyInMinute(db);
    const owner = api.session(newSubject());
    const key = await createKey(owner, (await createProject(owner)).project_slug);
    api.change({ rates: small(3, 100), settings: { trustedProxies: ['127.0.0.1'] } });
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const other = await createKey(owner, (await createProject(owner)).project_slug);
    expect((await from('203.0.113.7', key)).status).toBe(200);
    const statuses = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await from('203.0.113.7', wrong)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const refused = await from('203.0.113.7', wrong);
    expect(refused.body.error.code).toBe('rate_limited');
    expect(refused.body.error.message).toMatch(
      /^Too many failed authentications from one address: 3 a minute are allowed\. Wait \d+ second/,
    );
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await from('203.0.113.7', key)).status).toBe(200);
    expect((await from('203.0.113.7', other)).status).toBe(200);
    expect((await from('203.0.113.8', wrong)).status).toBe(401);
  });

  it('look up one guess at a time for an address over the limit, and reject the rest if many wait', async () => {
    await untilEarlyInMinute(db);
    const terms = { rates: small(2, 100), settings: { trustedProxies: ['127.0.0.1'] } };
    api.change(terms);
    const guess = () => from('203.0.113.9', newApiKey().plaintext_secret);
    for (let n = 0; n < 3; n += 1) await guess();
    const { query, seen, release } = heldQueries();
    api.change({ ...terms, db: { ...db, query } });
    const statuses: number[] = [];
    const guesses = Array.from({ length: 60 }, async () => statuses.push((await guess()).status));
    await expect.poll(() => statuses).toHaveLength(60 - 33);
    expect(seen.all).toBe(1);
    release();
    await Promise.all(guesses);
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(seen).toEqual({ now: 0, most: 1, all: 33 });
  });

  it('never reject a valid credential because of other guesses from the same address', async () => {
    await untilEarlyInMinute(db);
    const subject = newSubject();
    const owner = api.session(subject);
    const key = await createKey(owner, (await createProject(owner)).project_slug);
    api.change({ rates: small(1, 100), settings: { trustedProxies: ['127.0.0.1'] } });
    const guess = () => from('203.0.113.13', newApiKey().plaintext_secret);
    for (let n = 0; n < 2; n += 1) await guess();
    const headers = { ...(await api.sessionHeaders(subject)), 'x-forwarded-for': '203.0.113.13' };
    const among = [
      ...Array.from({ length: 10 }, guess),
      from('203.0.113.13', key),
      api.send({ path: '/v1/me', headers }),
      ...Array.from({ length: 10 }, guess),
    ];
    const statuses = (await Promise.all(among)).map(({ status }) => status);
    expect(statuses).toEqual([...Array(10).fill(429), 200, 200, ...Array(10).fill(429)]);
  });

  it.each([
    ['/healthz', '203.0.113.10', 200],
    ['/embed/shop/press', '203.0.113.14', 400],
  ])(
    'do not treat a key as valid after a request that ignores credentials: %s',
    async (path, address, status) => {
      await untilEarlyInMinute(db);
      const terms = { rates: small(1, 100), settings: { trustedProxies: ['127.0.0.1'] } };
      api.change(terms);
      const guess = (secret: string) => from(address, secret);
      for (let n = 0; n < 2; n += 1) await guess('x');
      const { plaintext_secret: secret } = newApiKey();
      const headers = { 'x-api-key': secret, 'x-forwarded-for': address };
      expect((await api.send({ path, headers })).status).toBe(status);
      const { query, seen, release } = heldQueries();
      api.change({ ...terms, db: { ...db, query } });
      const guesses = Array.from({ length: 40 }, () => guess(secret));
      expect((await Promise.race(guesses)).status).toBe(429);
      release();
      await Promise.all(guesses);
      expect(seen.most).toBe(1);
    },
  );

  it('count storage events with a wrong signature', async () => {
    await untilEarlyInMinute(db);
    api.change({ rates: small(1, 100), settings: { trustedProxies: ['127.0.0.1'] } });
    const path = '/v1/internal/storage-events';
    const forge = async () => {
      const headers = {
        'x-storage-event-notification-signature': 'v1=00',
        'x-forwarded-for': '203.0.113.11',
      };
      return (await api.send({ method: 'POST', path, headers, body: {} })).status;
    };
    expect([await forge(), await forge()]).toEqual([401, 429]);
  });

  it('trust a forwarded address only from a trusted proxy, and count an IPv6 network as one address', async () => {
    await untilEarlyInMinute(db);
    api.change({ rates: small(1, 100), settings: { trustedProxies: ['127.0.0.1'] } });
    expect((await from('2001:db8:1:2::1', 'x')).status).toBe(401);
    expect((await from('2001:db8:1:2::ffff', 'x')).status).toBe(429);
    expect((await from('2001:db8:1:3::1', 'x')).status).toBe(401);
    api.change({ rates: small(1, 100) });
    expect((await from('198.51.100.1', 'x')).status).toBe(401);
    expect((await from('198.51.100.2', 'x')).status).toBe(429);
  });

  it('reject too many writes to one project with 429, but not reads or writes to another', async () => {
    await untilEarlyInMinute(db);
    const owner = api.session(newSubject());
    const one = await createProject(owner);
    const other = await createProject(owner);
    api.change({ rates: small(100, 2) });
    const rename = (slug: string) => owner('PATCH', `/v1/projects/${slug}`, { name: 'x' });
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await rename(one.project_slug)).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect((await rename(other.project_slug)).status).toBe(200);
    expect((await owner('GET', `/v1/projects/${one.project_slug}`)).status).toBe(200);
  });

  it('count a key’s writes to other projects together with those to its own', async () => {
    await untilEarlyInMinute(db);
    const owner = api.session(newSubject());
    const { project_slug } = await createProject(owner);
    const headers = { 'x-api-key': await createKey(owner, project_slug) };
    api.change({ rates: small(100, 2) });
    const statuses = [];
    for (const slug of ['none-of-mine', 'y'.repeat(300), project_slug]) {
      const path = `/v1/projects/${slug}/uploads`;
      statuses.push((await api.send({ method: 'POST', path, body: {}, headers })).status);
    }
    expect(statuses).toEqual([404, 404, 429]);
  });

  it('count a session’s writes to foreign and nonexistent projects together, apart from its own', async () => {
    await untilEarlyInMinute(db);
    const owner = api.session(newSubject());
    const { project_slug: own } = await createProject(owner);
    const { project_slug: strange } = await createProject(api.session(newSubject()));
    api.change({ rates: small(100, 2) });
    const rename = (slug: string) => owner('PATCH', `/v1/projects/${slug}`, { name: 'x' });
    const statuses = [];
    for (const slug of ['guessed-1', strange, 'guessed-2']) {
      statuses.push((await rename(slug)).status);
    }
    expect(statuses).toEqual([404, 404, 429]);
    expect((await rename(own)).status).toBe(200);
  });

  it('do not count GET or HEAD requests as writes', async () => {
    await untilEarlyInMinute(db);
    const owner = api.session(newSubject());
    const path = `/v1/projects/${(await createProject(owner)).project_slug}`;
    api.change({ rates: small(100, 1) });
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD'])
      expect((await owner(method, path)).status).toBe(200);
    expect((await owner('PATCH', path, { name: 'x' })).status).toBe(200);
  });
});

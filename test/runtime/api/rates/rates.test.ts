import { describe, expect, it } from 'vitest';
import { createMinuteRate } from '../../../../runtime/api/rates/minute-rate.ts';
import { createRates } from '../../../../runtime/api/rates/rates.ts';
import type { Queryable } from '../../../../runtime/db/client.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { createKey, createProject, newSubject } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const log = createLog({ level: 'silent', name: 'test' });
const api = useApi();
const { db } = api;

/** What is counted below takes seconds: it begins where the database's minute has enough of them left. */
async function untilEarlyInMinute(): Promise<void> {
  const second = async () => {
    const [row] = await db.query<{ second: number }>(
      'select extract(second from now())::integer as second',
    );
    return row?.second ?? 0;
  };
  await expect.poll(second, { timeout: 30_000, interval: 200 }).toBeLessThan(40);
}

/** As often as each of so many processes may at once; returns how often that was. */
async function takeAll(processes: number, times: number, limit: number): Promise<number> {
  const scope = `test-${limit}`;
  const rates = Array.from({ length: processes }, () =>
    createMinuteRate({ db, clock: systemClock, log, scope, limit }),
  );
  const wishes = rates.flatMap((rate) => Array.from({ length: times }, () => rate.take('a')));
  const taken = await Promise.allSettled(wishes);
  return taken.filter(({ status }) => status === 'fulfilled').length;
}

describe('so many a minute', { timeout: 90_000 }, () => {
  it('are exactly as many over three processes where the limit is small', async () => {
    await untilEarlyInMinute();
    expect(await takeAll(3, 30, 20)).toBe(20);
  });

  it('are never more where processes take several at once, and all of them where one takes alone', async () => {
    await untilEarlyInMinute();
    expect(await takeAll(3, 300, 500)).toBe(500);
    expect(await takeAll(1, 600, 510)).toBe(510);
  });

  it('say when the minute is over, and ask nobody until then', async () => {
    let asked = 0;
    const full: Queryable = {
      query: async <Row>() => {
        asked += 1;
        return [{ is_allowed: false, retry_after_seconds: 50 }] as Row[];
      },
    };
    const clock = createManualClock();
    const rate = createMinuteRate({ db: full, clock, log, scope: 'test', limit: 1 });
    await expect(rate.take('a')).rejects.toMatchObject({ retryAfterSeconds: 50 });
    clock.advance(20);
    await expect(rate.take('a')).rejects.toMatchObject({ retryAfterSeconds: 30 });
    expect(asked).toBe(1);
    clock.advance(30);
    await expect(rate.take('a')).rejects.toMatchObject({ code: 'rate_limited' });
    expect(asked).toBe(2);
  });

  it('are counted by each process alone while the database is away', async () => {
    const away: Queryable = { query: () => Promise.reject(new Error('away')) };
    const rate = createMinuteRate({ db: away, clock: systemClock, log, scope: 'test', limit: 3 });
    for (let n = 0; n < 3; n += 1) await rate.take('a');
    await expect(rate.take('a')).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

describe('an API with small rates', { timeout: 60_000 }, () => {
  const small = (failed: number, writes: number) =>
    createRates({
      ...api.deps(),
      failedAuthenticationsPerMinute: failed,
      writesPerMinute: writes,
    });
  const from = (address: string, key: string) =>
    api.send({ path: '/v1/key', headers: { 'x-api-key': key, 'x-forwarded-for': address } });

  it('answers 429 to whom it failed too often, and goes on letting in who is known', async () => {
    await untilEarlyInMinute();
    const owner = api.session(newSubject());
    const key = await createKey(owner, (await createProject(owner)).project_slug);
    api.change({ rates: small(3, 100), settings: { trustedProxies: ['127.0.0.1'] } });
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const statuses = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await from('203.0.113.7', wrong)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const refused = await from('203.0.113.7', wrong);
    expect(refused.body.error.code).toBe('rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await from('203.0.113.7', key)).status).toBe(200);
    expect((await from('203.0.113.8', wrong)).status).toBe(401);
  });

  it('believes no address but from a proxy that it trusts, and takes an IPv6 network as one', async () => {
    await untilEarlyInMinute();
    api.change({ rates: small(1, 100), settings: { trustedProxies: ['127.0.0.1'] } });
    expect((await from('2001:db8:1:2::1', 'x')).status).toBe(401);
    expect((await from('2001:db8:1:2::ffff', 'x')).status).toBe(429);
    expect((await from('2001:db8:1:3::1', 'x')).status).toBe(401);
    api.change({ rates: small(1, 100) });
    expect((await from('198.51.100.1', 'x')).status).toBe(401);
    expect((await from('198.51.100.2', 'x')).status).toBe(429);
  });

  it('answers 429 to who writes too much to a project; another and every read go on', async () => {
    await untilEarlyInMinute();
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
});

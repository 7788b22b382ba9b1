// What all adapters have in common: rate limits, pauses, deadlines, partial failures.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCloudflareApi } from '../../../../runtime/platform/cdn/cloudflare.ts';
import { createRateLimitedCdn } from '../../../../runtime/platform/cdn/rate-limited-cdn.ts';
import type { RateLimit } from '../../../../runtime/platform/cdn/rate-limiter.ts';
import { sendRequest } from '../../../../runtime/platform/cdn/send-request.ts';
import { type CdnServer, startCdnServer } from '../../../support/cdn-server.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';
import { many, never, purgeOf, refusals } from './purges.ts';

const taken = { status: 200, body: '{"success":true,"errors":[]}' };
let api: CdnServer;
let clock: ManualClock;
let waits: number[];

beforeEach(async () => {
  api = await startCdnServer();
  api.answer(() => taken);
  clock = createManualClock();
  waits = [];
});
afterEach(() => api.close());

/** Waiting advances the clock, and takes no real time. */
const open = (rate: RateLimit = { burst: 100, per_minute: 6000 }) =>
  createRateLimitedCdn(
    createCloudflareApi({ zone: 'zone', token: 'token-1234', url: api.url, rate }),
    {
      clock,
      wait: async (ms) => {
        waits.push(Math.round(ms));
        clock.advance(ms / 1000);
      },
    },
  );

describe('calls to a CDN', () => {
  it('are sent in a burst up to the size of the bucket, then at its rate', async () => {
    const cdn = open({ burst: 3, per_minute: 6 });
    for (const purge of many(5)) await cdn.purge([purge], never);
    expect(waits).toEqual([10_000, 10_000]);
    clock.advance(25);
    for (const purge of many(3)) await cdn.purge([purge], never);
    expect(waits).toEqual([10_000, 10_000, 5_000]);
    clock.advance(3600);
    for (const purge of many(3)) await cdn.purge([purge], never);
    expect(waits).toHaveLength(3);
  });

  it('stop at a 429 until its Retry-After has passed', async () => {
    const cdn = open();
    api.answer(() => ({ status: 429, headers: { 'retry-after': '120' } }));
    const refused = refusals(await cdn.purge(many(250), never));
    expect(api.seen).toHaveLength(1);
    expect(refused).toHaveLength(250);
    expect(new Set(refused.map((each) => each.retry_after_seconds))).toEqual(new Set([120]));

    api.answer(() => taken);
    clock.advance(100);
    const [waiting] = refusals(await cdn.purge([purgeOf('shop')], never));
    expect(waiting?.retry_after_seconds).toBe(20);
    expect(api.seen).toHaveLength(1);
    clock.advance(20);
    expect(await cdn.purge([purgeOf('shop')], never)).toEqual(new Map());
  });

  it('accept Retry-After as seconds or a date, capped at five minutes', async () => {
    const rows: [Record<string, string>, number | undefined][] = [
      [
        { date: 'Sat, 21 Nov 2026 07:00:00 GMT', 'retry-after': 'Sat, 21 Nov 2026 07:00:42 GMT' },
        42,
      ],
      [{ 'retry-after': '999999' }, 300],
      [{ 'retry-after': '0' }, 1],
      [{ date: 'Sat, 21 Nov 2026 07:00:00 GMT', 'fastly-ratelimit-reset': '1795244460' }, 60],
      [{ 'retry-after': 'soon' }, undefined],
      [{}, undefined],
    ];
    for (const [headers, seconds] of rows) {
      api.answer(() => ({ status: 429, headers }));
      const [refusal] = refusals(await open().purge([purgeOf('shop')], never));
      expect(refusal?.retry_after_seconds, JSON.stringify(headers)).toBe(seconds);
    }
  });

  it('continue after a failure of a single call, and stop after one that concerns all', async () => {
    const answers = [{ status: 200, body: '{"success":false}' }, taken, { status: 502 }, taken];
    api.answer(() => answers[api.seen.length - 1]);
    const refused = refusals(await open().purge(many(400), never));
    expect(api.seen).toHaveLength(3);
    expect(refused.map(({ name }) => name)).toEqual(
      [...many(100), ...many(400).slice(200)].map(({ file_id }) => file_id),
    );
  });

  it('time out at their deadline if the CDN does not answer', async () => {
    api.answer(() => undefined);
    const request = { method: 'GET', url: api.url, headers: {} };
    const late = sendRequest(request, { signal: never, deadline_ms: 30 });
    await expect(late).rejects.toThrow(/did not answer within 0\.03 s: check TINTYPE_CDN_URL/);
  });

  it('are aborted with their process, which is not reported as a refusal', async () => {
    api.answer(() => undefined);
    const ending = new AbortController();
    const purging = open().purge([purgeOf('shop')], ending.signal);
    await expect.poll(() => api.seen).not.toEqual([]);
    ending.abort(new Error('the process ends'));
    await expect(purging).rejects.toThrow('the process ends');
  });
});

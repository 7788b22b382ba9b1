import { describe, expect, it } from 'vitest';
import { createStartupRetry } from '../../../runtime/actions/startup-retry.ts';
import { Advice, ServerUnavailable } from '../../../runtime/platform/advice.ts';
import { createLifecycle } from '../../../runtime/platform/lifecycle.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { findReadiness } from '../../../runtime/platform/readiness.ts';

const silent = createLog({ level: 'silent', name: 'test' });

/** A starting process whose pauses are recorded and take no time. */
function starting() {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const log = createLog({ level: 'warn', name: 'test', destination });
  const pauses: number[] = [];
  const lifecycle = { pause: async (ms: number) => void pauses.push(ms) };
  const retry = createStartupRetry({ log, lifecycle, random: () => 0.5 });
  return { lines, pauses, retry, ready: () => findReadiness(retry.probes(), silent) };
}

/** A server that is unavailable for the first `times` calls. */
function server(times: number) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new ServerUnavailable('PostgreSQL does not listen there');
    return calls;
  };
}

describe('a starting process', () => {
  it('waits for an unavailable server, longer each time, and logs it once', async () => {
    const { lines, pauses, retry } = starting();
    expect(await retry.open('database', server(7))).toBe(8);
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        dependency: 'database',
        msg: 'a dependency is away: the process waits for it',
        error: expect.objectContaining({ message: 'PostgreSQL does not listen there' }),
      }),
    ]);
  });

  it('is not ready while it waits, and names the server that it waits for', async () => {
    const { lines, retry, ready } = starting();
    expect(await ready()).toEqual({ ready: false, checks: { start: false } });
    await retry.open('database', server(1));
    expect(await ready()).toEqual({ ready: false, checks: { database: false } });
    await retry.open('broker', server(1));
    expect(await ready()).toEqual({ ready: false, checks: { broker: false } });
    expect(lines).toHaveLength(2);
  });

  it('fails immediately on an error that somebody has to fix', async () => {
    const { retry, pauses } = starting();
    const refused = () => Promise.reject(new Advice('the password is wrong'));
    await expect(retry.open('database', refused)).rejects.toThrow('the password is wrong');
    expect(pauses).toEqual([]);
  });

  it('ends without an error if it is stopped while it waits', async () => {
    const lifecycle = createLifecycle({ log: silent });
    const retry = createStartupRetry({ log: silent, lifecycle });
    const order: string[] = [];
    const started = lifecycle.start(async () => {
      lifecycle.onStop('health', () => void order.push('health stopped'));
      await retry.open('database', () => {
        if (order.push('asked') === 1) setImmediate(() => void lifecycle.stop());
        return Promise.reject(new ServerUnavailable('away'));
      });
      order.push('begun');
    });
    await started;
    expect(await lifecycle.stopped).toBe(0);
    expect(order).toEqual(['asked', 'health stopped']);
  });
});

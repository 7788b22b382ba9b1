import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createOutageLog } from '../../../runtime/platform/outage-log.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('the outage log writes a failure at once, then once a minute, and at once after a success', () => {
  const said: unknown[][] = [];
  const say = (...words: unknown[]) => void said.push(words);
  const log = { warn: say, error: say };
  const outage = createOutageLog(log, { says: 'not sent', fields: { job: 'a' } });
  for (let second = 0; second < 120; second += 1) {
    outage.failed(second);
    vi.advanceTimersByTime(1000);
  }
  outage.succeeded();
  outage.failed('later');
  expect(said).toEqual([
    ['not sent', { job: 'a', error: 0 }],
    ['not sent', { job: 'a', error: 60 }],
    ['not sent', { job: 'a', error: 'later' }],
  ]);
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../runtime/core/errors.ts';
import { createFailureLog } from '../../../runtime/platform/failure-log.ts';
import { createLog } from '../../../runtime/platform/log.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function recorded() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const failures = createFailureLog(createLog({ level: 'debug', name: 'test', destination }));
  const said = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { failures, said };
}

const refused = () =>
  new ServiceError('storage_unavailable', { cause: new Error('connect ECONNREFUSED') });

it('the failure log warns of an outage at its first failed request, then once a minute', () => {
  const { failures, said } = recorded();
  for (let second = 0; second < 120; second += 1) {
    failures.failed('request failed', { path: `/${second}`, error: refused() });
    vi.advanceTimersByTime(1000);
  }
  const code = 'storage_unavailable';
  expect(said()).toMatchObject([
    { level: 'warn', code, path: '/0', error: { cause: { message: 'connect ECONNREFUSED' } } },
    { level: 'warn', code, path: '/60', count: 59 },
  ]);
  expect(JSON.stringify(said())).not.toContain('stack');
});

it('the failure log warns once of each different outage', () => {
  const { failures, said } = recorded();
  const error = new ServiceError('storage_unavailable', { cause: new Error('the bucket is full') });
  failures.failed('request failed', { error: refused() });
  failures.failed('request failed', { error });
  failures.failed('request failed', { error: new ServiceError('auth_unavailable') });
  failures.failed('request failed', { error });
  expect(said()).toHaveLength(3);
});

it('the failure log records an error with its stack for each unexpected failure', () => {
  const { failures, said } = recorded();
  for (const error of [new Error('ours'), new Error('ours'), new ServiceError('internal')]) {
    failures.failed('request failed', { error });
  }
  const line = { level: 'error', error: { stack: expect.stringContaining('failure-log.test.ts') } };
  expect(said()).toMatchObject([line, line, line]);
});

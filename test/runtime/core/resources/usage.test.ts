import { describe, expect, it } from 'vitest';
import { resolveUsageRange } from '../../../../runtime/core/resources/usage.ts';

const now = new Date('2026-11-20T12:34:56.789Z');
const range = (query: { from?: string; to?: string }) => {
  const { from, to, range_capped } = resolveUsageRange(query, now);
  return [from.toISOString(), to.toISOString(), range_capped];
};

describe('resolveUsageRange', () => {
  it.each([
    [{}, '2026-10-21T12:34:56.789Z', '2026-11-20T12:34:56.789Z', false],
    [{ from: '2026-11-10' }, '2026-11-10T00:00:00.000Z', '2026-11-20T12:34:56.789Z', false],
    [{ to: '2026-11-10' }, '2026-10-21T12:34:56.789Z', '2026-11-11T00:00:00.000Z', false],
    [{ to: '2026-09-10' }, '2026-08-12T00:00:00.000Z', '2026-09-11T00:00:00.000Z', false],
    [
      { from: '2026-11-10', to: '2026-11-10' },
      '2026-11-10T00:00:00.000Z',
      '2026-11-11T00:00:00.000Z',
      false,
    ],
    [
      { from: '2026-11-10T01:00:00+01:00', to: '2026-11-10T00:00:00Z' },
      '2026-11-10T00:00:00.000Z',
      '2026-11-10T00:00:00.000Z',
      false,
    ],
    [
      { from: '2026-11-10T01:00:00 01:00' },
      '2026-11-10T00:00:00.000Z',
      '2026-11-20T12:34:56.789Z',
      false,
    ],
    [
      { from: '2026-08-12', to: '2026-11-09' },
      '2026-08-12T00:00:00.000Z',
      '2026-11-10T00:00:00.000Z',
      false,
    ],
    [
      { from: '2026-08-11', to: '2026-11-09' },
      '2026-08-12T00:00:00.000Z',
      '2026-11-10T00:00:00.000Z',
      true,
    ],
    [
      { from: '2026-01-01T10:31Z', to: '2026-01-01T12:00+01:00' },
      '2026-01-01T10:31:00.000Z',
      '2026-01-01T11:00:00.000Z',
      false,
    ],
    [{ to: '0001-01-02' }, '0001-01-01T00:00:00.000Z', '0001-01-03T00:00:00.000Z', false],
    [
      { from: '0001-01-01', to: '9998-12-31' },
      '9998-10-03T00:00:00.000Z',
      '9999-01-01T00:00:00.000Z',
      true,
    ],
    [{ from: '1970-01-01' }, '2026-08-22T12:34:56.789Z', '2026-11-20T12:34:56.789Z', true],
  ] as const)('resolves %j to [%s, %s), capped %s', (query, from, to, capped) => {
    expect(range(query)).toEqual([from, to, capped]);
  });

  it.each([
    [{ from: '2026-11-11', to: '2026-11-09' }, 'from'],
    [{ from: '2026-12-01' }, 'from'],
    [{ from: '2026-02-30' }, 'from'],
    [{ to: 'yesterday' }, 'to'],
    [{ to: '' }, 'to'],
    [{ to: '2026-11-10T00:00:00' }, 'to'],
    [{ to: '20261110' }, 'to'],
    [{ from: '0000-01-01' }, 'from'],
    [{ from: '0000-12-31T23:59:59Z' }, 'from'],
    [{ from: '0001-01-01T00:00+00:01' }, 'from'],
    [{ to: '9999-01-01' }, 'to'],
    [{ to: '9999-12-31' }, 'to'],
    [{ to: '9998-12-31T23:59-00:01' }, 'to'],
    [{ to: '+010000-01-01' }, 'to'],
  ])('rejects %j and names the parameter', (query, path) => {
    expect(() => range(query)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: { issues: [{ path, message: expect.stringContaining('expected') }] },
      }),
    );
  });
});

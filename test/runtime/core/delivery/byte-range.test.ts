import { expect, it } from 'vitest';
import {
  printContentRange,
  readWantedBytes,
  type WantedBytes,
} from '../../../../runtime/core/delivery/byte-range.ts';

const TEN = { size_bytes: 10, etag: '"tag"' };
const part = (start: number, end: number) => ({ start, end });

const cases: readonly [string | undefined, WantedBytes][] = [
  [undefined, 'whole'],
  ['bytes=0-0', part(0, 0)],
  ['bytes=2-5', part(2, 5)],
  ['BYTES=2-5', part(2, 5)],
  ['bytes= 2-5 ', part(2, 5)],
  ['bytes=2-', part(2, 9)],
  ['bytes=2-99', part(2, 9)],
  ['bytes=-3', part(7, 9)],
  ['bytes=-99', part(0, 9)],
  ['bytes=9-', part(9, 9)],
  ['bytes=10-', 'beyond'],
  ['bytes=10-20', 'beyond'],
  ['bytes=999999999999999-', 'beyond'],
  ['bytes=-0', 'beyond'],
  ['bytes=5-2', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=1.5-3', 'whole'],
  ['bytes=--3', 'whole'],
  ['pages=0-1', 'whole'],
  ['bytes=9999999999999999-', 'whole'],
];

it.each(cases)('Range: %s selects %j of ten bytes', (range, wanted) => {
  expect(readWantedBytes({ range }, TEN)).toEqual(wanted);
});

it('no range can be satisfied on an empty body', () => {
  const empty = { ...TEN, size_bytes: 0 };
  for (const range of ['bytes=0-', 'bytes=-1', 'bytes=0-0']) {
    expect(readWantedBytes({ range }, empty), range).toBe('beyond');
  }
});

it.each([
  ['"tag"', part(0, 1)],
  ['"other"', 'whole'],
  ['W/"tag"', 'whole'],
  ['Sat, 21 Nov 2026 00:00:00 GMT', 'whole'],
] as const)(
  'If-Range: %s yields the part only if it equals the strong entity tag',
  (ifRange, wanted) => {
    expect(readWantedBytes({ range: 'bytes=0-1', ifRange }, TEN)).toEqual(wanted);
  },
);

it('If-Range never matches an image without an entity tag', () => {
  const untagged = { size_bytes: 10, etag: null };
  expect(readWantedBytes({ range: 'bytes=0-1', ifRange: '"tag"' }, untagged)).toBe('whole');
});

it('Content-Range names the range and the size, or only the size if the range is beyond the end', () => {
  expect(printContentRange(part(2, 5), 10)).toBe('bytes 2-5/10');
  expect(printContentRange('beyond', 10)).toBe('bytes */10');
});

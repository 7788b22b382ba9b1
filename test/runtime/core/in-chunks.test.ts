import { expect, it } from 'vitest';
import { inChunks } from '../../../runtime/core/in-chunks.ts';

it.each([
  [[], []],
  [[1], [[1]]],
  [[1, 2], [[1, 2]]],
  [
    [1, 2, 3, 4, 5],
    [[1, 2], [3, 4], [5]],
  ],
])('inChunks splits %j into chunks of two: %j', (items, parts) => {
  expect([...inChunks(items, 2)]).toEqual(parts);
});

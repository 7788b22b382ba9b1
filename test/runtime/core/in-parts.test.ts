import { expect, it } from 'vitest';
import { inParts } from '../../../runtime/core/in-parts.ts';

it.each([
  [[], []],
  [[1], [[1]]],
  [[1, 2], [[1, 2]]],
  [
    [1, 2, 3, 4, 5],
    [[1, 2], [3, 4], [5]],
  ],
])('inParts splits %j into parts of two: %j', (items, parts) => {
  expect([...inParts(items, 2)]).toEqual(parts);
});

// Spec: Codes by status (invalid_json).
import { expect, it } from 'vitest';
import { findUnclearJson } from '../../../runtime/core/unclear-json.ts';

it('findUnclearJson accepts the same name in two objects and inside a text', () => {
  expect(findUnclearJson('[{"a":"\\"a\\":"},{"a":{"a":1}}]')).toBeUndefined();
});

it('findUnclearJson does not split a character if it shortens a long name', () => {
  const begin = `${'n'.repeat(63)}😀`;
  expect(findUnclearJson(`{"${begin}s":1,"${begin}s":2}`)).toContain(JSON.stringify(begin));
});

/** Searching for the end of the text again from each of its quotes would take minutes. */
it.each([
  ['a string that does not end', ''],
  ['a string that ends in an escape', '\\'],
  ['a string with a line break', '\\\n'],
])('findUnclearJson reads invalid JSON only once: %s', (_what, end) => {
  expect(findUnclearJson(`"${'\\"'.repeat(80_000)}${end}`)).toBeUndefined();
});

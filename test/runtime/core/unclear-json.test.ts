// Spec: Codes by status (invalid_json, invalid_request).
import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../../../runtime/core/unclear-json.ts';

describe('findJsonFault', () => {
  it('accepts the same name in two objects and inside a text', () => {
    expect(findJsonFault('[{"a":"\\"a\\":"},{"a":{"a":1}}]')).toBeUndefined();
  });

  it('does not split a character if it shortens a long name', () => {
    const begin = `${'n'.repeat(63)}😀`;
    const { is, what = '' } = findJsonFault(`{"${begin}s":1,"${begin}s":2}`) ?? {};
    expect(is).toBe('unclear');
    expect(what).toContain(JSON.stringify(begin));
  });

  /** Searching for the end of the text again from each of its quotes would take minutes. */
  it.each([
    ['a string that does not end', ''],
    ['a string that ends in an escape', '\\'],
    ['a string with a line break', '\\\n'],
  ])('reads invalid JSON only once: %s', (_what, end) => {
    expect(findJsonFault(`"${'\\"'.repeat(80_000)}${end}`)).toBeUndefined();
  });

  it('accepts 1,000 fields in one object, and no more', () => {
    const object = (count: number) =>
      `{${Array.from({ length: count }, (_, at) => `"${at}" : {"${at}":1}`).join()}}`;
    expect(findJsonFault(object(1000))).toBeUndefined();
    const fault = { is: 'large', what: 'at most 1000 fields in one object' };
    expect(findJsonFault(object(1001))).toEqual(fault);
    expect(findJsonFault(`[[${object(1001)}]]`)).toEqual(fault);
  });

  it.each([
    ['{"parts":[{"number":1,"etag":"a,b"},{"number":2,"etag":"[{"}]}', 8],
    ['[1,[2,3],"4"]', 6],
    ['1', 1],
  ])('counts the values of %s', (text, values) => {
    expect(findJsonFault(text, values)).toBeUndefined();
    const what = `at most ${values - 1} values in all`;
    expect(findJsonFault(text, values - 1)).toEqual(
      values === 1 ? undefined : { is: 'large', what },
    );
  });

  it.each([
    ['a bracket that was not opened', ']{"a":1,"a":1}'],
    ['strings without commas', `${'"" '.repeat(21)}{"a":1,"a":1}`],
  ])('leaves text that is certainly not JSON to its parser: %s', (_what, text) => {
    expect(findJsonFault(text, 10)).toBeUndefined();
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it('reads no further than the last allowed value', () => {
    const wide = `[${'0,'.repeat(10)}{"__proto__":1}]`;
    expect(findJsonFault(wide, 10)?.is).toBe('large');
    expect(findJsonFault(wide)?.is).toBe('unclear');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFolderWithin, parseFolder } from '../../../runtime/core/folder.ts';

const wild = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      'a',
      'B',
      '/',
      ' ',
      '.',
      'e\u0301',
      '\u0301',
      '\u0338',
      '\u212b',
      '\ufeff',
      '\t',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});

describe('parseFolder', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(wild, (text) => {
        const folder = parseFolder(text);
        if (folder !== undefined) expect(parseFolder(folder)).toBe(folder);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['', ''],
    ['/', ''],
    [' // ', ''],
    ['a', 'a'],
    ['/a//b/', 'a/b'],
    [' Summer 24 / Paris ', 'Summer 24/Paris'],
    ['Cafe\u0301', 'Café'],
    ['...', '...'],
    ['a/b/c/d/e/f/g/h/i/j', 'a/b/c/d/e/f/g/h/i/j'],
    ['😀'.repeat(255), '😀'.repeat(255)],
  ])('reads %j as %j', (text, folder) => expect(parseFolder(text)).toBe(folder));

  it.each([
    '.',
    'a/..',
    'a/ . /b',
    'a\0b',
    'a\nb',
    'a\u202eb',
    'a\ud800',
    'a/b/c/d/e/f/g/h/i/j/k',
    'a'.repeat(256),
  ])('rejects %j', (text) => expect(parseFolder(text)).toBeUndefined());

  it('measures the length of a name after Unicode composition', () => {
    expect(parseFolder('\u03b1\u0313\u0300\u0345'.repeat(255))).toBe('\u1f82'.repeat(255));
  });

  it('rejects a huge run of combining marks without normalizing it', () => {
    const marks = 60_000;
    expect(parseFolder(`a${'\u0315'.repeat(marks)}${'\u0316'.repeat(marks)}`)).toBeUndefined();
  });
});

describe('isFolderWithin', () => {
  it.each([
    ['', '', true],
    ['a/b', '', true],
    ['a', 'a', true],
    ['a/b', 'a', true],
    ['ab', 'a', false],
    ['', 'a', false],
    ['A/b', 'a', false],
  ])('%j within %j: %s', (folder, ancestor, answer) =>
    expect(isFolderWithin(folder, ancestor)).toBe(answer),
  );
});

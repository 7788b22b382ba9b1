import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from '../../../runtime/core/cut-text.ts';
import { cleanText, countCharacters, stripText } from '../../../runtime/core/text.ts';

const wild = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      'a',
      ' ',
      '\0',
      '\n',
      '\u007f',
      '\u202e',
      '\u2066',
      '\ud83d',
      '\ude00',
      '😀',
      'é',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});
const length = fc.integer({ min: 0, max: 12 });

describe('cleanText', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(wild, length, (text, max) => {
        const clean = cleanText(text, max);
        if (clean !== null) expect(cleanText(clean, max)).toBe(clean);
      }),
    );
  });

  it('removes control and bidirectional characters, outer spaces and lone surrogates', () => {
    fc.assert(
      fc.property(wild, length, (text, max) => {
        const clean = cleanText(text, max) ?? '';
        expect(clean).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
        expect(clean).toBe(clean.trim());
        expect(clean.isWellFormed()).toBe(true);
        expect(countCharacters(clean)).toBeLessThanOrEqual(max);
      }),
    );
  });

  it('cuts by characters, not by UTF-16 units', () => {
    expect(cleanText('😀'.repeat(201), 200)).toBe('😀'.repeat(200));
    expect(cleanText('😀a', 1)).toBe('😀');
  });

  it('cuts before a grapheme that would be split, unless it is the only one', () => {
    const family = '👩‍👩‍👧‍👦';
    expect(cleanText(`ab${family}`, 6)).toBe('ab');
    expect(cleanText(`ab${family}c`, 9)).toBe(`ab${family}`);
    expect(cleanText('e\u0301e\u0301', 3)).toBe('e\u0301');
    expect(cleanText(`x${'\u0301'.repeat(20)}`, 5)).toBe(`x${'\u0301'.repeat(4)}`);
  });

  it('keeps a text that fits exactly', () => {
    const text = 'ä'.repeat(200);
    expect(cleanText(text, 200)).toBe(text);
  });

  it('returns null if nothing is left', () => {
    for (const text of ['', '   ', '\u202e', '\0\n', ' \u200f '])
      expect(cleanText(text, 9)).toBeNull();
  });

  it('strips inside a text and trims after the cut', () => {
    expect(cleanText('\u202eab\ncd\u0085', 9)).toBe('abcd');
    expect(cleanText('ab cd', 3)).toBe('ab');
  });
});

describe('cutText and stripText', () => {
  it.each(['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\0', '\u0085'])(
    'stripText removes %j',
    (character) => expect(stripText(`a${character}b`)).toBe('ab'),
  );

  it('cutText returns a prefix', () => {
    fc.assert(fc.property(wild, length, (text, max) => text.startsWith(cutText(text, max))));
  });

  it('cutText counts characters as countCharacters does', () => {
    fc.assert(fc.property(wild, (text) => cutText(text, countCharacters(text)) === text));
  });

  it('stripText replaces a lone surrogate', () => {
    expect(stripText('a\ud83d')).toBe('a\ufffd');
  });
});

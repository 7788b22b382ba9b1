import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiErrors } from '../../../runtime/core/errors.ts';
import { FILE_SLUG_PATTERN } from '../../../runtime/core/limits.ts';
import {
  isPresetName,
  parseFileSlug,
  parseLibraryName,
  parseLibrarySlug,
  parseProjectSlug,
  RESERVED_PROJECT_SLUGS,
} from '../../../runtime/core/slug.ts';

const slugLike = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', '.', '_', '-', ' ', 'é', 'K', '/', '\0', '\n', '%'),
  maxLength: 8,
});

describe('the slug parsers', () => {
  it('are idempotent', () => {
    for (const parse of [parseFileSlug, parseProjectSlug, parseLibrarySlug, parseLibraryName]) {
      fc.assert(
        fc.property(slugLike, (text) => {
          const slug = parse(text);
          if (slug !== undefined) expect(parse(slug)).toBe(slug);
        }),
      );
    }
  });
});

describe('parseFileSlug', () => {
  it('lower-cases the text before it is checked', () => {
    expect(parseFileSlug('Hero-Shot_2.JPG')).toBe('hero-shot_2.jpg');
    expect(parseFileSlug('a'.repeat(128))).toBe('a'.repeat(128));
    expect(parseFileSlug('0')).toBe('0');
  });

  it.each([
    '',
    '.a',
    '-a',
    '_a',
    'a b',
    'a/b',
    'a\n',
    ' a',
    'é',
    'a'.repeat(129),
    '\u212Aelvin',
    'İ',
  ])('rejects %j', (text) => expect(parseFileSlug(text)).toBeUndefined());

  it('returns only slugs that match the pattern of the specification', () => {
    fc.assert(fc.property(slugLike, (text) => FILE_SLUG_PATTERN.test(parseFileSlug(text) ?? 'a')));
  });
});

describe('parseProjectSlug', () => {
  it('accepts a single DNS label', () => {
    for (const slug of ['a', '7', 'shop', 'my-shop-2', 'a'.repeat(63)]) {
      expect(parseProjectSlug(slug)).toBe(slug);
    }
  });

  it.each(['', '-a', 'a-', 'a.b', 'a_b', 'Shop', 'a'.repeat(64), 'a\n', 'é'])(
    'rejects %j',
    (text) => expect(parseProjectSlug(text)).toBeUndefined(),
  );

  it('rejects every reserved slug', () => {
    expect(RESERVED_PROJECT_SLUGS).toHaveLength(17);
    for (const slug of RESERVED_PROJECT_SLUGS) expect(parseProjectSlug(slug)).toBeUndefined();
  });
});

describe('library slugs and preset names', () => {
  it('a library slug is trimmed and lower-cased, and default is reserved', () => {
    expect(parseLibrarySlug('  Summer-24 ')).toBe('summer-24');
    expect(parseLibrarySlug('Default')).toBeUndefined();
    expect(parseLibraryName(' Default')).toBe('default');
    for (const text of ['', 'a|b', 'a/b', 'a'.repeat(65)])
      expect(parseLibrarySlug(text)).toBeUndefined();
    expect(apiErrors.invalid_library_slug.message).toContain('64');
  });

  it('a preset name follows its pattern', () => {
    expect(isPresetName('thumb.2x_a-b')).toBe(true);
    for (const name of ['', 'Thumb', '.a', 'a b', '__proto__', 'a'.repeat(65)]) {
      expect(isPresetName(name)).toBe(false);
    }
  });
});

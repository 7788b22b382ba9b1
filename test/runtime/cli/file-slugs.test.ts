import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameFiles, slugFromName } from '../../../runtime/cli/file-slugs.ts';
import { parseFileSlug } from '../../../runtime/core/slug.ts';

describe('slugFromName', () => {
  it.each([
    ['photo.jpg', 'photo.jpg'],
    ['Photo_1.JPG', 'photo_1.jpg'],
    ['a--b.jpg', 'a--b.jpg'],
    ['Holiday Photo (1).JPG', 'holiday-photo-1.jpg'],
    ['-dash.jpg', 'dash.jpg'],
    ['.hidden.png', 'hidden.png'],
    ['__init__.png', 'init.png'],
    ['Fête à Łódź.webp', 'fete-a-lodz.webp'],
    ['Straße.jpg', 'strasse.jpg'],
    ['a/b/c.gif', 'c.gif'],
    ['no extension', 'no-extension'],
    [`${'long '.repeat(40)}.jpg`, `${'long-'.repeat(24)}long.jpg`],
  ])('turns %s into a valid slug', (name, slug) => {
    expect(slugFromName(name)).toBe(slug);
  });

  it.each(['写真.jpg', '---.jpg', '…', '🦆.png'])(
    'returns no slug for %s, so that the service chooses one',
    (name) => {
      expect(slugFromName(name)).toBeUndefined();
    },
  );
});

describe('nameFiles', () => {
  it('gives every file of a call a valid slug of its own', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
      fc.constantFrom('a.jpg', 'A.jpg', 'a .jpg', 'a-2.jpg', 'x/a.jpg', `${'y'.repeat(130)}.jpg`),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 12 }), (files) => {
        const slugs = nameFiles(files).flatMap(({ slug }) => slug ?? []);
        expect(slugs.map(parseFileSlug)).toEqual(slugs);
        expect(new Set(slugs).size).toBe(slugs.length);
      }),
    );
  });

  it('notes which file has taken a name', () => {
    expect(nameFiles(['a/photo.jpg', 'b/Photo.JPG', 'photo-2.jpg'])).toEqual([
      { file: 'a/photo.jpg', slug: 'photo.jpg' },
      { file: 'b/Photo.JPG', slug: 'photo-2.jpg', note: 'photo.jpg is taken by a/photo.jpg' },
      { file: 'photo-2.jpg', slug: 'photo-2-2.jpg', note: 'photo-2.jpg is taken by b/Photo.JPG' },
    ]);
  });

  it('lists a file only once that is named twice, under the requested slug', () => {
    expect(nameFiles(['a.jpg', './a.jpg'], 'cover')).toEqual([{ file: './a.jpg', slug: 'cover' }]);
  });
});

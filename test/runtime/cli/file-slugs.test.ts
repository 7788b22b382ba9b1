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
  ])('makes of %s what a URL can hold', (name, slug) => {
    expect(slugFromName(name)).toBe(slug);
  });

  it.each(['写真.jpg', '---.jpg', '…', '🦆.png'])('leaves %s to the service', (name) => {
    expect(slugFromName(name)).toBeUndefined();
  });
});

describe('nameFiles', () => {
  it('gives any files of a call lawful slugs, each its own', () => {
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

  it('says which file has the name already', () => {
    expect(nameFiles(['a/photo.jpg', 'b/Photo.JPG', 'photo-2.jpg'])).toEqual([
      { file: 'a/photo.jpg', slug: 'photo.jpg' },
      { file: 'b/Photo.JPG', slug: 'photo-2.jpg', note: 'photo.jpg is taken by a/photo.jpg' },
      { file: 'photo-2.jpg', slug: 'photo-2-2.jpg', note: 'photo-2.jpg is taken by b/Photo.JPG' },
    ]);
  });

  it('publishes once what is named twice, and under the slug that was asked for', () => {
    expect(nameFiles(['a.jpg', './a.jpg'], 'cover')).toEqual([{ file: './a.jpg', slug: 'cover' }]);
  });
});

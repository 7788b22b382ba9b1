/** A small image of each accepted type, for which ingest stores every kind of object, and one that is rejected. */
import type { Sharp } from 'sharp';
import { printBmp } from '../../support/bmp.ts';
import { drawing, over, photograph } from '../../support/pictures.ts';

export type FamilyPicture = {
  family: string;
  content_type: string;
  bytes: Buffer;
  ends: 'ready' | 'failed';
};

/** Wide enough for all half-way images, but only a few pixels high. */
const wide = () => over(photograph(2200, 8));
const narrow = () => over(photograph(1100, 8));
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 8"><rect width="300" height="20" fill="red"/></svg>';

/** The JPEG comes first, because it passes through every step. */
export async function familyPictures(): Promise<FamilyPicture[]> {
  const jpeg = await annotated(wide()).jpeg().toBuffer();
  const grid = { width: 60, height: 40, pixelAt: (x: number, y: number) => x * y };
  const ready = {
    jpeg,
    png: await annotated(narrow()).png().toBuffer(),
    webp: await narrow().webp().toBuffer(),
    avif: await over(photograph(64, 48)).avif({ effort: 0 }).toBuffer(),
    gif: await over(drawing(1100, 8)).gif().toBuffer(),
    tiff: await narrow().tiff({ compression: 'lzw' }).toBuffer(),
    bmp: printBmp(grid, { bits: 24 }),
    'svg+xml': Buffer.from(SVG),
  };
  const pictures = Object.entries(ready).map(([family, bytes]): FamilyPicture => {
    return { family, content_type: `image/${family}`, bytes, ends: 'ready' };
  });
  return [
    ...pictures,
    { family: 'refused', content_type: 'image/png', bytes: jpeg, ends: 'failed' },
  ];
}

/** Adds EXIF, an ICC profile and XMP. */
function annotated(picture: Sharp): Sharp {
  return picture
    .withExif({ IFD0: { Artist: 'Ada' } })
    .withIccProfile('p3')
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>');
}

/** The inks of pictures without a profile: those that the decoder's library brings, which it tells only in a picture. */
import sharp from 'sharp';
import { type InkTable, readInkTable } from './ink-table.ts';

let found: Promise<InkTable | undefined> | undefined;

/** `contentType` is of a kind that may be read now: JPEG, or else TIFF. */
export function usualInks(contentType: string): Promise<InkTable | undefined> {
  found ??= readUsual(contentType);
  return found;
}

async function readUsual(contentType: string): Promise<InkTable | undefined> {
  const point = sharp({ create: { width: 1, height: 1, channels: 3, background: '#ffffff' } })
    .toColourspace('cmyk')
    .withIccProfile('cmyk');
  const picture = contentType === 'image/jpeg' ? point.jpeg() : point.tiff();
  const { icc } = await sharp(await picture.toBuffer()).metadata();
  return icc && readInkTable(icc);
}

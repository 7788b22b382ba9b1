/**
 * The inks of images without a profile: those built into the decoder's library, which reveals them only in an image.
 */
import sharp from 'sharp';
import { type InkTable, readInkTable } from './ink-table.ts';

let found: Promise<InkTable | undefined> | undefined;

/** `contentType`: a type whose loader is allowed now: JPEG, otherwise TIFF. */
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

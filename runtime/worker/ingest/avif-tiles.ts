/**
 * The tiles of an AVIF, each decoded by itself: where one of a grid is damaged, the decoder's library leaves its place
 * green and says nothing. Spec: Processing error codes (decode_failed).
 */
import sharp, { type SharpOptions } from 'sharp';
import { showItem } from './media-boxes.ts';

/** Throws what the library says of the first one that it cannot decode. */
export async function decodeTiles(
  avif: Buffer,
  tiles: readonly number[],
  options: SharpOptions,
): Promise<void> {
  if (tiles.length === 0) return;
  const copy = Buffer.from(avif);
  for (const tile of tiles) {
    showItem(copy, tile);
    // All of it is decoded for one pixel.
    const pixel = sharp(copy, options).extract({ left: 0, top: 0, width: 1, height: 1 });
    await pixel.raw().toBuffer();
  }
}

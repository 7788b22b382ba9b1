/**
 * Decodes each tile of an AVIF separately: when a tile of a grid is damaged, the decoder's library leaves its place
 * green without an error. Spec: Processing error codes (decode_failed).
 */
import sharp, { type SharpOptions } from 'sharp';
import { setPrimaryItem } from './media-boxes.ts';

/** Throws the library's error for the first tile that cannot be decoded. */
export async function decodeTiles(
  avif: Buffer,
  tiles: readonly number[],
  options: SharpOptions,
): Promise<void> {
  if (tiles.length === 0) return;
  const copy = Buffer.from(avif);
  for (const tile of tiles) {
    setPrimaryItem(copy, tile);
    // Extracting one pixel decodes the whole tile.
    const pixel = sharp(copy, options).extract({ left: 0, top: 0, width: 1, height: 1 });
    await pixel.raw().toBuffer();
  }
}

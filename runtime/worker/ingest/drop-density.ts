/**
 * Removes the pHYs chunk from a PNG of ours: for an image that is decoded again for each use, the library writes the
 * print density of the upload there, even when told to omit metadata. Spec: Output rules 1.
 */
import { headChunks } from './png-chunks.ts';

export function dropDensity(png: Buffer): Buffer {
  for (const { name, from, behind } of headChunks(png)) {
    if (name !== 'pHYs') continue;
    // Moves the bytes before the chunk over it, because the image data may have hundreds of
    // megabytes.
    return png.copyWithin(behind - from, 0, from).subarray(behind - from);
  }
  return png;
}

/**
 * Removes the pHYs chunk from a PNG of ours: for an image that is decoded again for each use, the library writes the
 * print density of the upload there, even when told to omit metadata. Spec: Output rules 1.
 */
export function dropDensity(png: Buffer): Buffer {
  let at = SIGNATURE_BYTES;
  for (let name = ''; name !== 'IDAT'; ) {
    const bytes = AROUND_BYTES + png.readUInt32BE(at);
    name = png.toString('latin1', at + 4, at + 8);
    // Moves the bytes before the chunk over it, because the image data may have hundreds of
    // megabytes.
    if (name === 'pHYs') return png.copyWithin(bytes, 0, at).subarray(bytes);
    at += bytes;
  }
  return png;
}

const SIGNATURE_BYTES = 8;
/** The bytes of a chunk besides its data: length, name and checksum. */
const AROUND_BYTES = 12;

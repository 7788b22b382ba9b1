/**
 * A PNG of ours without its chunk pHYs: of a picture that is decoded anew for each use, the library writes there how
 * densely its upload was to be printed, whatever is asked to be left out. Spec: Output rules 1.
 */
export function dropDensity(png: Buffer): Buffer {
  let at = SIGNATURE_BYTES;
  for (let name = ''; name !== 'IDAT'; ) {
    const bytes = AROUND_BYTES + png.readUInt32BE(at);
    name = png.toString('latin1', at + 4, at + 8);
    // What stands before the chunk is moved over it: the picture itself may be of hundreds of megabytes.
    if (name === 'pHYs') return png.copyWithin(bytes, 0, at).subarray(bytes);
    at += bytes;
  }
  return png;
}

const SIGNATURE_BYTES = 8;
/** Of a chunk beside its data: their length, its name and a checksum. */
const AROUND_BYTES = 12;

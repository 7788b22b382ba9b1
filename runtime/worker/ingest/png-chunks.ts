/** The chunks of a PNG. */

/** Where a chunk begins, and where the next one does. */
export type Chunk = { readonly name: string; readonly from: number; readonly behind: number };

export const SIGNATURE_BYTES = 8;
/** Length and name, before the data of a chunk. */
export const CHUNK_HEAD_BYTES = 8;
const CHECKSUM_BYTES = 4;
/** How the data of a text chunk with an XMP packet begins, whichever kind of text chunk it is. */
export const XMP = 'XML:com.adobe.xmp\0';

/** Those before the pixels, of a PNG that was scanned before, or that is ours. */
export function* headChunks(png: Buffer): Generator<Chunk> {
  for (let from = SIGNATURE_BYTES; ; ) {
    const name = png.toString('latin1', from + 4, from + CHUNK_HEAD_BYTES);
    if (name === 'IDAT') return;
    const behind = from + CHUNK_HEAD_BYTES + png.readUInt32BE(from) + CHECKSUM_BYTES;
    yield { name, from, behind };
    from = behind;
  }
}

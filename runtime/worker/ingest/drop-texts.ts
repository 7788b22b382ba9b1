/**
 * Removes the text chunks before a PNG's pixels. The decoder's library would unpack every one of them each time it
 * opens the file, 8 MB from 8 kB: 150 kB took 800 MB. The last XMP packet stays, because of several it is the one that
 * is read. Spec: Processing error codes.
 */
export function dropTexts(png: Buffer): Buffer {
  const chunks = [...headChunks(png)];
  const packet = chunks.findLast((chunk) => isPacket(png, chunk));
  const kept = chunks.filter((chunk) => !TEXTS.has(chunk.name) || chunk === packet);
  if (kept.length === chunks.length) return png;
  let to = chunks.at(-1)?.behind ?? SIGNATURE_BYTES;
  // Moves chunks towards the pixels, last one first, because the image data may have hundreds of
  // megabytes.
  for (const { from, behind } of [SIGNATURE, ...kept].toReversed()) {
    to -= behind - from;
    png.copyWithin(to, from, behind);
  }
  return png.subarray(to);
}

type Place = { readonly from: number; readonly behind: number };
type Chunk = Place & { readonly name: string };

const SIGNATURE_BYTES = 8;
const SIGNATURE: Place = { from: 0, behind: SIGNATURE_BYTES };
/** The bytes of a chunk besides its data: length, name and checksum. */
const AROUND_BYTES = 12;
const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt']);
/** Whichever kind of text chunk holds it. */
const PACKET = 'XML:com.adobe.xmp\0';

/** All chunks before the pixels, which have already been scanned. */
function* headChunks(png: Buffer): Generator<Chunk> {
  for (let from = SIGNATURE_BYTES; ; ) {
    const name = png.toString('latin1', from + 4, from + 8);
    if (name === 'IDAT') return;
    const behind = from + AROUND_BYTES + png.readUInt32BE(from);
    yield { name, from, behind };
    from = behind;
  }
}

function isPacket(png: Buffer, { name, from }: Chunk): boolean {
  const at = from + AROUND_BYTES - 4;
  return TEXTS.has(name) && png.toString('latin1', at, at + PACKET.length) === PACKET;
}

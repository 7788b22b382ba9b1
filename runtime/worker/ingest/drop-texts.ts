/**
 * Removes the text chunks before a PNG's pixels. The decoder's library would unpack every one of them each time it
 * opens the file, 8 MB from 8 kB: 150 kB took 800 MB. The last XMP packet stays, because of several it is the one that
 * is read. Spec: Processing error codes.
 */
import { CHUNK_HEAD_BYTES, type Chunk, headChunks, SIGNATURE_BYTES, XMP } from './png-chunks.ts';

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

const SIGNATURE = { from: 0, behind: SIGNATURE_BYTES };
const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt']);

function isPacket(png: Buffer, { name, from }: Chunk): boolean {
  const at = from + CHUNK_HEAD_BYTES;
  return TEXTS.has(name) && png.toString('latin1', at, at + XMP.length) === XMP;
}

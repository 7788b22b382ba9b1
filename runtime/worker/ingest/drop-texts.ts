/**
 * A PNG without the texts before its pixels, of which the decoder's library would unpack every one, 8 MB from 8 kB,
 * wherever it is opened: 150 kB took 800 MB. The first packet of XMP stays, which is read. Spec: Processing error codes.
 */
export function dropTexts(png: Buffer): Buffer {
  const { kept, end, bytes } = readHead(png);
  if (bytes === end) return png;
  let to = end;
  // Moved towards the pixels, the last one first: the picture itself may be of hundreds of megabytes.
  for (const [from, behind] of kept.toReversed()) {
    to -= behind - from;
    png.copyWithin(to, from, behind);
  }
  return png.subarray(to);
}

type Place = readonly [from: number, behind: number];

const SIGNATURE_BYTES = 8;
/** Of a chunk beside its data: their length, its name and a checksum. */
const AROUND_BYTES = 12;
const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt']);
/** Whichever kind of text it is. */
const PACKET = 'XML:com.adobe.xmp\0';

/** What stays of all that stands before the pixels, which was scanned; and how long all of that is. */
function readHead(png: Buffer): { kept: Place[]; end: number; bytes: number } {
  const kept: Place[] = [[0, SIGNATURE_BYTES]];
  let hasPacket = false;
  let [at, bytes] = [SIGNATURE_BYTES, SIGNATURE_BYTES];
  for (;;) {
    const name = png.toString('latin1', at + 4, at + 8);
    if (name === 'IDAT') return { kept, end: at, bytes };
    const behind = at + AROUND_BYTES + png.readUInt32BE(at);
    const isText = TEXTS.has(name);
    const isPacket = isText && png.toString('latin1', at + 8, at + 8 + PACKET.length) === PACKET;
    if (!isText || (isPacket && !hasPacket)) {
      kept.push([at, behind]);
      bytes += behind - at;
    }
    hasPacket ||= isPacket;
    at = behind;
  }
}

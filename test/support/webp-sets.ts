/**
 * A lossless, single-color WebP with a given number of Huffman code groups, one per 4 × 4 block, which no encoder
 * writes.
 */

const SIGNATURE = 0x2f;
const LENGTH_ORDER = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8];
const LITERALS = 256;
const GREENS = LITERALS + 24;

export function webpOfSets(side: number, sets: number): Buffer {
  const bits = bitWriter();
  bits.put(SIGNATURE, 8);
  bits.put(side - 1, 14);
  bits.put(side - 1, 14);
  // No alpha, version 0, no transforms, no color cache.
  bits.put(0, 1 + 3 + 1 + 1);
  // Code groups per block of 4 × 4.
  bits.put(1, 1);
  bits.put(0, 3);
  // The image that assigns a code group to each block: its number in red and green, eight bits
  // each.
  bits.put(0, 1);
  for (const symbols of [GREENS, LITERALS]) putEvenCode(bits, symbols);
  for (let code = 0; code < 3; code += 1) putOneSymbol(bits);
  const blocks = (side / 4) ** 2;
  for (let block = 0; block < blocks; block += 1) {
    const set = block % sets;
    for (const value of [set & 255, set >> 8]) {
      for (let bit = 7; bit >= 0; bit -= 1) bits.put((value >> bit) & 1, 1);
    }
  }
  for (let code = 0; code < sets * 5; code += 1) putOneSymbol(bits);
  return wrap(bits.bytes());
}

type Bits = ReturnType<typeof bitWriter>;

/** A code with a single symbol, which takes zero bits. */
function putOneSymbol(bits: Bits): void {
  bits.put(1, 4);
}

/** A code with eight bits for each of the first 256 symbols. */
function putEvenCode(bits: Bits, symbols: number): void {
  bits.put(0, 1);
  bits.put(LENGTH_ORDER.length - 4, 4);
  // Code lengths are eight or zero.
  for (const length of LENGTH_ORDER) bits.put(length === 8 || length === 18 ? 1 : 0, 3);
  bits.put(0, 1);
  for (let symbol = 0; symbol < LITERALS; symbol += 1) bits.put(0, 1);
  if (symbols === LITERALS) return;
  bits.put(1, 1);
  bits.put(symbols - LITERALS - 11, 7);
}

/** Writes the lowest bit first. */
function bitWriter() {
  const bytes: number[] = [];
  let at = 0;
  return {
    put: (value: number, width: number) => {
      for (let bit = 0; bit < width; bit += 1) {
        if (at % 8 === 0) bytes.push(0);
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | (((value >> bit) & 1) << (at % 8));
        at += 1;
      }
    },
    bytes: () => Buffer.from(bytes),
  };
}

function wrap(body: Buffer): Buffer {
  const padded = Buffer.concat([body, Buffer.alloc(body.length % 2)]);
  const head = Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0');
  head.writeUInt32LE(padded.length + 12, 4);
  head.writeUInt32LE(body.length, 16);
  return Buffer.concat([head, padded]);
}

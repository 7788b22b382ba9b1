/**
 * EXIF directories may point at one another repeatedly. The library behind the decoder follows every pointer again, so
 * 50 kB can cost it ten seconds. They are walked here first, within a bound; the walk also finds out whether an
 * orientation may rotate the image. Spec: Processing error codes.
 */
import { IngestRefusal } from './ingest-refusal.ts';

/**
 * The maximum of entries on all paths through a block's directories; a camera writes some hundreds.
 */
const ENTRIES_MAX = 50_000;
/**
 * The maximum for all blocks together, where each block adds one; pixels rarely contain the bytes
 * of a block's beginning by chance.
 */
const ENTRIES_OF_FILE_MAX = 16 * ENTRIES_MAX;
const DEPTH_MAX = 12;
const ENTRY_BYTES = 12;
/** Pointers to the camera's settings, the place, and the interoperability directory. */
const POINTERS: ReadonlySet<number> = new Set([0x8769, 0x8825, 0xa005]);
const ORIENTATION = 0x0112;
const UPRIGHT = 1;
/** How a block begins, wherever it is in its container. */
const BEGINS = [Buffer.from('II*\0'), Buffer.from('MM\0*')];

/** Throws IngestRefusal. */
export function walkExif(bytes: Buffer): { is_turned: boolean } {
  let entries = 0;
  let isTurned = false;
  for (const begin of BEGINS) {
    for (let at = bytes.indexOf(begin); at >= 0; at = bytes.indexOf(begin, at + begin.length)) {
      const block = walk(bytes.subarray(at));
      isTurned ||= block.is_turned;
      entries += 1 + block.entries;
      if (entries > ENTRIES_OF_FILE_MAX) throw refusal();
    }
  }
  return { is_turned: isTurned };
}

type Block = {
  u16(at: number): number;
  u32(at: number): number;
  /** The number of entries met. */
  entries: number;
  is_turned: boolean;
};

function walk(bytes: Buffer): Block {
  const block = openBlock(bytes);
  let directory = block.u32(4);
  // The directory of the image, and that of its thumbnail.
  for (let index = 0; index < 2 && directory > 0; index += 1) {
    const count = walkDirectory(block, { at: directory, depth: 0 });
    directory = block.u32(directory + 2 + count * ENTRY_BYTES);
  }
  return block;
}

/** Returns the number of its entries. */
function walkDirectory(block: Block, { at, depth }: { at: number; depth: number }): number {
  const count = block.u16(at);
  for (let index = 0; index < count; index += 1) {
    const entry = at + 2 + index * ENTRY_BYTES;
    block.entries += 1;
    if (block.entries > ENTRIES_MAX) throw refusal();
    block.is_turned ||= isTurn(block, entry);
    if (!POINTERS.has(block.u16(entry)) || depth >= DEPTH_MAX) continue;
    walkDirectory(block, { at: block.u32(entry + 8), depth: depth + 1 });
  }
  return count;
}

/** The orientation may be a 16-bit or a 32-bit number. */
function isTurn({ u16, u32 }: Block, entry: number): boolean {
  return u16(entry) === ORIENTATION && u16(entry + 8) !== UPRIGHT && u32(entry + 8) !== UPRIGHT;
}

/** Bytes outside the block read as zero, so that there is nothing to follow. */
function openBlock(bytes: Buffer): Block {
  const isLittle = bytes[0] === 0x49;
  const has = (at: number, size: number) => at + size <= bytes.length;
  const u16 = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const u32 = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  return {
    u16: (at) => (has(at, 2) ? u16(at) : 0),
    u32: (at) => (has(at, 4) ? u32(at) : 0),
    entries: 0,
    is_turned: false,
  };
}

function refusal(): IngestRefusal {
  return new IngestRefusal('decode_failed', 'EXIF directories that point at one another');
}

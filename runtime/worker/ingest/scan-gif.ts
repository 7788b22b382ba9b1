/**
 * Scans the GIF blocks from first to last: a second image makes an animation, and an image may extend beyond the screen
 * in the header. Nothing is decompressed here.
 */
import { IngestRefusal } from './ingest-refusal.ts';
import type { HeaderFacts } from './scan.ts';

const SCREEN_BYTES = 13;
const PICTURE_BYTES = 10;
const PALETTE_FLAG = 0x80;
const TRANSPARENCY_FLAG = 0x01;
const CODE_BITS_MAX = 8;

const block = { extension: 0x21, picture: 0x2c, end: 0x3b, padding: 0 } as const;
const GRAPHIC_CONTROL = 0xf9;

export function scanGif(bytes: Buffer): HeaderFacts {
  const screen = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  const { pictures, is_transparent } = readBlocks(bytes);
  const [picture] = pictures;
  if (picture === undefined) throw damaged('no picture');
  const width = Math.max(screen.width, picture.left + picture.width);
  const height = Math.max(screen.height, picture.top + picture.height);
  return {
    content_type: 'image/gif',
    width,
    height,
    bits_per_channel: 8,
    has_alpha: is_transparent || picture.width < width || picture.height < height,
    is_lossless: true,
    frames: pictures.length,
    quality: null,
    chroma: null,
    is_palette: true,
  };
}

type Picture = { left: number; top: number; width: number; height: number };

/** Stops at the second image, one more than allowed. */
function readBlocks(bytes: Buffer): { pictures: Picture[]; is_transparent: boolean } {
  const pictures: Picture[] = [];
  let isTransparent = false;
  let at = SCREEN_BYTES + paletteBytes(bytes.readUInt8(10));
  while (at < bytes.length && pictures.length < 2) {
    const kind = bytes.readUInt8(at);
    if (kind === block.end) break;
    if (kind === block.padding) {
      at += 1;
    } else if (kind === block.extension) {
      isTransparent ||= isTransparency(bytes, at);
      at = afterSubBlocks(bytes, at + 2);
    } else if (kind === block.picture) {
      pictures.push(readPicture(bytes, at));
      at = afterPicture(bytes, at);
    } else {
      throw damaged('a block of no known kind');
    }
  }
  return { pictures, is_transparent: isTransparent };
}

function isTransparency(bytes: Buffer, at: number): boolean {
  const isControl = bytes.readUInt8(at + 1) === GRAPHIC_CONTROL && bytes.readUInt8(at + 2) > 0;
  return isControl && (bytes.readUInt8(at + 3) & TRANSPARENCY_FLAG) !== 0;
}

function readPicture(bytes: Buffer, at: number): Picture {
  const [left, top] = [bytes.readUInt16LE(at + 1), bytes.readUInt16LE(at + 3)];
  const [width, height] = [bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7)];
  if (width === 0 || height === 0) throw damaged('a picture without size');
  return { left, top, width, height };
}

function afterPicture(bytes: Buffer, at: number): number {
  const data = at + PICTURE_BYTES + paletteBytes(bytes.readUInt8(at + PICTURE_BYTES - 1));
  const codeBits = bytes.readUInt8(data);
  if (codeBits < 1 || codeBits > CODE_BITS_MAX) throw damaged('no such code size');
  return afterSubBlocks(bytes, data + 1);
}

function afterSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = bytes.readUInt8(at);
    at += 1 + length;
    if (length === 0) return at;
  }
}

function paletteBytes(flags: number): number {
  return (flags & PALETTE_FLAG) === 0 ? 0 : 3 << ((flags & 0x07) + 1);
}

function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `GIF: ${detail}`);
}

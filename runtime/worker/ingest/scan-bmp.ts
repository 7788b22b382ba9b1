/** Reads the facts about a BMP image from its headers. */
import { readBmpHeader } from './bmp-header.ts';
import type { HeaderFacts } from './scan.ts';

export function scanBmp(bytes: Buffer): HeaderFacts {
  const { width, height, bits, masks } = readBmpHeader(bytes);
  return {
    content_type: 'image/bmp',
    width,
    height,
    bits_per_channel: 8,
    has_alpha: (masks[3] ?? 0) !== 0,
    is_lossless: true,
    frames: 1,
    quality: null,
    chroma: null,
    is_palette: bits <= 8,
  };
}

/** The palettes of TIFF: three lists of 16-bit values, red, green and blue, of which most writers use 8 bits. */
import type { Directory } from './tiff-directory.ts';
import { tag } from './tiff-tags.ts';

/** The factor from 8 to 16 bits, and the one of the many writers that only shift. */
const SPREAD = 257;
const SHIFTED = 256;

const ENTRIES_MAX = 3 * 256;

export const readPalette = (page: Directory): number[] => page.allNumbers(tag.palette, ENTRIES_MAX);

/**
 * Whether some colors do not fit into 8 bits. Values all below 256 count as 8-bit, as for every
 * reader.
 */
export function hasDeepPalette(page: Directory): boolean {
  const all = readPalette(page);
  const isEach = (step: number) => all.every((value) => value % step === 0);
  return all.some((value) => value >= SHIFTED) && !isEach(SPREAD) && !isEach(SHIFTED);
}

/**
 * Red, green and blue of each pixel, given by palette index. Undefined when an index is beyond the
 * palette.
 */
export function applyPalette(
  indices: Uint8Array,
  palette: readonly number[],
): Uint16Array | undefined {
  const colors = palette.length / 3;
  const [red, green, blue] = [0, 1, 2].map((channel) =>
    Uint16Array.from(palette.slice(channel * colors, (channel + 1) * colors)),
  );
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  const samples = new Uint16Array(indices.length * 3);
  for (let at = 0; at < indices.length; at += 1) {
    const index = indices[at] ?? 0;
    if (index >= colors) return undefined;
    samples[at * 3] = red[index] ?? 0;
    samples[at * 3 + 1] = green[index] ?? 0;
    samples[at * 3 + 2] = blue[index] ?? 0;
  }
  return samples;
}

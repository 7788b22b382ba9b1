/** The palettes of TIFF: three lists of 16 bits each, red, green and blue, of which most writers mean 8. */
import type { Directory } from './tiff-directory.ts';
import { tag } from './tiff-tags.ts';

/** What 8 bits are in 16, and what many writers make of them by shifting alone. */
const SPREAD = 257;
const SHIFTED = 256;

const ENTRIES_MAX = 3 * 256;

export const readPalette = (page: Directory): number[] => page.allNumbers(tag.palette, ENTRIES_MAX);

/** Whether its colours cannot all be said in 8 bits. Below 256 all are meant as such, as every reader takes them. */
export function hasDeepPalette(page: Directory): boolean {
  const all = readPalette(page);
  const isEach = (step: number) => all.every((value) => value % step === 0);
  return all.some((value) => value >= SHIFTED) && !isEach(SPREAD) && !isEach(SHIFTED);
}

/** Red, green and blue of each pixel, whose numbers in the palette are given. Undefined for one beyond it. */
export function paint(indices: Uint8Array, palette: readonly number[]): Uint16Array | undefined {
  const colours = palette.length / 3;
  const [red, green, blue] = [0, 1, 2].map((channel) =>
    Uint16Array.from(palette.slice(channel * colours, (channel + 1) * colours)),
  );
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  const samples = new Uint16Array(indices.length * 3);
  for (let at = 0; at < indices.length; at += 1) {
    const index = indices[at] ?? 0;
    if (index >= colours) return undefined;
    samples[at * 3] = red[index] ?? 0;
    samples[at * 3 + 1] = green[index] ?? 0;
    samples[at * 3 + 2] = blue[index] ?? 0;
  }
  return samples;
}

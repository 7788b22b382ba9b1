/**
 * Converts images of four inks to sRGB, pixel by pixel through their profile's table: exact, whereas the decoder's
 * library uses a coarse table of its own. Perceptual, with black point compensation. Spec: What the service does.
 */
import type { InkTable } from './ink-table.ts';
import { linearLight } from './linear-light.ts';
import { seeInks } from './see-inks.ts';

export type InkSamples = Uint8Array | Uint16Array;

const INKS = 4;
const COLOURS = 3;
const STEPS = 65_535;

/** Returns red, green, blue and the channel behind the inks, if any; overwrites the samples. */
export function printColours(samples: InkSamples, channels: number, table: InkTable): InkSamples {
  const max = samples instanceof Uint16Array ? 65_535 : 255;
  const [sight, light, tones] = [seeInks(table, max), linearLight(table), printTones(max)];
  const colour = new Float64Array(COLOURS);
  let to = 0;
  for (let from = 0; from < samples.length; from += channels) {
    sight(samples, from, colour);
    light(colour);
    const behind = samples[from + INKS] ?? max;
    for (let index = 0; index < COLOURS; index += 1) {
      const value = Math.min(Math.max(colour[index] ?? 0, 0), 1);
      samples[to] = tones[Math.round(value * STEPS)] ?? 0;
      to += 1;
    }
    if (channels === INKS) continue;
    samples[to] = behind;
    to += 1;
  }
  return samples.subarray(0, to);
}

/** The sRGB curve, indexed by linear light. */
function printTones(max: number): Uint16Array {
  return Uint16Array.from({ length: STEPS + 1 }, (_, step) => {
    const light = step / STEPS;
    const tone = light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;
    return Math.round(tone * max);
  });
}

/**
 * Converts images of four inks to sRGB, pixel by pixel through their profile's table: exact, whereas the decoder's
 * library uses a coarse table of its own. Perceptual, with black point compensation. Spec: What the service does.
 */

import { createInkInterpolator } from './ink-interpolator.ts';
import type { InkTable } from './ink-table.ts';
import { linearLight } from './linear-light.ts';

export type InkSamples = Uint8Array | Uint16Array;

const INKS = 4;
const COLORS = 3;
const STEPS = 65_535;

/** Returns red, green, blue and the channel behind the inks, if any; overwrites the samples. */
export function printColors(samples: InkSamples, channels: number, table: InkTable): InkSamples {
  const max = samples instanceof Uint16Array ? 65_535 : 255;
  const [interpolate, light, tones] = [
    createInkInterpolator(table, max),
    linearLight(table),
    printTones(max),
  ];
  const color = new Float64Array(COLORS);
  let to = 0;
  for (let from = 0; from < samples.length; from += channels) {
    interpolate(samples, from, color);
    light(color);
    const behind = samples[from + INKS] ?? max;
    for (let index = 0; index < COLORS; index += 1) {
      const value = Math.min(Math.max(color[index] ?? 0, 0), 1);
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

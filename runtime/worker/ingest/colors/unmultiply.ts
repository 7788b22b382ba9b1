/** Undoes the multiplication of colors with their alpha, as an AVIF may have it. Spec: What the service does. */

const CHANNELS = 4;

/** Red, green, blue and alpha; overwrites the samples. */
export function unmultiply(samples: Uint8Array | Uint16Array): void {
  const max = samples instanceof Uint16Array ? 65_535 : 255;
  for (let at = 0; at < samples.length; at += CHANNELS) {
    const alpha = samples[at + CHANNELS - 1] ?? max;
    if (alpha === max) continue;
    for (let index = at; index < at + CHANNELS - 1; index += 1) {
      const color = samples[index] ?? 0;
      samples[index] = alpha === 0 ? 0 : Math.min(max, Math.round((color * max) / alpha));
    }
  }
}

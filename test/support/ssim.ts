/** The structural similarity, from 0 to 1, of two images of the same size, over windows of 8 × 8 pixels. */

export type Samples = { data: Uint8Array; width: number; height: number };

const WINDOW = 8;
const STEP = 4;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;

export function ssim(one: Samples, other: Samples): number {
  if (one.width !== other.width || one.height !== other.height) return 0;
  const [left, right] = [luma(one), luma(other)];
  let [sum, count] = [0, 0];
  for (let y = 0; y + WINDOW <= one.height; y += STEP) {
    for (let x = 0; x + WINDOW <= one.width; x += STEP) {
      sum += windowOf(left, right, { at: y * one.width + x, width: one.width });
      count += 1;
    }
  }
  return count === 0 ? 1 : sum / count;
}

/** Three for opaque images, otherwise four. */
export function channelsOf({ data, width, height }: Samples): 3 | 4 {
  return data.length === width * height * 4 ? 4 : 3;
}

/** Flattens transparent images onto white, as a viewer would see them. */
function luma(samples: Samples): Float64Array {
  const { data, width, height } = samples;
  const channels = channelsOf(samples);
  const lumas = new Float64Array(width * height);
  for (let index = 0, at = 0; index < lumas.length; index += 1, at += channels) {
    const grey =
      0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
    const alpha = channels === 4 ? (data[at + 3] ?? 0) / 255 : 1;
    lumas[index] = grey * alpha + 255 * (1 - alpha);
  }
  return lumas;
}
type Place = { at: number; width: number };

function windowOf(left: Float64Array, right: Float64Array, { at, width }: Place): number {
  let [a, b, aa, bb, ab] = [0, 0, 0, 0, 0];
  for (let y = 0; y < WINDOW; y += 1) {
    for (let x = 0; x < WINDOW; x += 1) {
      const [p, q] = [left[at + y * width + x] ?? 0, right[at + y * width + x] ?? 0];
      a += p;
      b += q;
      aa += p * p;
      bb += q * q;
      ab += p * q;
    }
  }
  const n = WINDOW * WINDOW;
  const [meanA, meanB] = [a / n, b / n];
  const [varA, varB, cov] = [aa / n - meanA ** 2, bb / n - meanB ** 2, ab / n - meanA * meanB];
  return (
    ((2 * meanA * meanB + C1) * (2 * cov + C2)) /
    ((meanA ** 2 + meanB ** 2 + C1) * (varA + varB + C2))
  );
}

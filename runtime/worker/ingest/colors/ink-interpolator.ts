/**
 * Looks up the appearance of four inks in the nodes of their profile's table: linear along the first ink, tetrahedral
 * between the other three, like Little CMS without an intermediate table.
 */
import type { InkTable } from './ink-table.ts';

const COLORS = 3;

/** Writes the interpolated node values, which are not yet a color. */
export type InkInterpolator = (
  samples: Uint8Array | Uint16Array,
  at: number,
  color: Float64Array,
) => void;

/**
 * Where each value of an ink lies among its nodes: the index of the node below, and the share of
 * the way to the next.
 */
type Axis = { below: Int32Array; share: Float32Array; step: number };

function axesOf({ inputs, sides }: InkTable, max: number): Axis[] {
  let step = COLORS;
  return sides
    .map((side, ink) => ({ side, curve: inputs[ink] ?? ((value: number) => value) }))
    .toReversed()
    .map(({ side, curve }) => {
      const below = new Int32Array(max + 1);
      const share = new Float32Array(max + 1);
      for (let value = 0; value <= max; value += 1) {
        const place = curve(value / max) * (side - 1);
        const node = Math.min(Math.floor(place), side - 2);
        below[value] = node * step;
        share[value] = place - node;
      }
      const axis = { below, share, step };
      step *= side;
      return axis;
    })
    .toReversed();
}

export function createInkInterpolator(table: InkTable, max: number): InkInterpolator {
  const [first, second, third, fourth] = axesOf(table, max);
  if (!(first && second && third && fourth)) throw new Error('a table of four inks has four axes');
  const { nodes } = table;
  return (samples, at, color) => {
    const c = samples[at] ?? 0;
    const m = samples[at + 1] ?? 0;
    const l = samples[at + 2] ?? 0;
    const k = samples[at + 3] ?? 0;
    const [x, y, z] = [second.share[m] ?? 0, third.share[l] ?? 0, fourth.share[k] ?? 0];
    const most = Math.max(x, y, z);
    const least = Math.min(x, y, z);
    const middle = x + y + z - most - least;
    // From the node below to its neighbour along the largest share, then the next, then the last.
    const along = x === most ? second.step : y === most ? third.step : fourth.step;
    const notAlong = x === least ? second.step : y === least ? third.step : fourth.step;
    const o3 = second.step + third.step + fourth.step;
    const o2 = o3 - notAlong;
    const low =
      (first.below[c] ?? 0) +
      (second.below[m] ?? 0) +
      (third.below[l] ?? 0) +
      (fourth.below[k] ?? 0);
    const high = low + first.step;
    const share = first.share[c] ?? 0;
    const [w0, w1, w2] = [1 - most, most - middle, middle - least];
    for (let index = 0; index < COLORS; index += 1) {
      const one = low + index;
      const other = high + index;
      const below =
        (nodes[one] ?? 0) * w0 +
        (nodes[one + along] ?? 0) * w1 +
        (nodes[one + o2] ?? 0) * w2 +
        (nodes[one + o3] ?? 0) * least;
      const above =
        (nodes[other] ?? 0) * w0 +
        (nodes[other + along] ?? 0) * w1 +
        (nodes[other + o2] ?? 0) * w2 +
        (nodes[other + o3] ?? 0) * least;
      color[index] = below + (above - below) * share;
    }
  };
}

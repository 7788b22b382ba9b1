// What a render reads: the original, or the smallest half-way image that is large enough, and where the plan's window
// lies in it. Spec: Transform operations. An edge between two pixels of a half-way image is not rounded: a larger part
// is read and resized, so that the edge falls on a whole pixel of what is then cut out.
import { MEZZANINE_OUTPUT_FACTOR_MIN } from '../limits.ts';
import type { Size, SourceFacts } from './geometry.ts';
import type { Box } from './operations.ts';
import type { RenderPlan } from './plan.ts';

/** A half-way image kept at ingest: the whole oriented source, reduced. */
export type Mezzanine = {
  readonly long_edge: number;
  readonly width: number;
  readonly height: number;
  readonly object_key: string;
  readonly content_type: string;
};

/**
 * What a render reads. `window` is the part of the object, in its own pixels. `frame`, if present,
 * is the size to which the window is resized, and where the output lies in it; without it the
 * window becomes the output.
 */
export type RenderSource = {
  readonly object: 'original' | Mezzanine;
  readonly window: Box;
  readonly frame?: Box;
};

/**
 * Chooses the smallest half-way image that has 1.6 times the output in both sides and allows the
 * plan's window to be met; otherwise the one that meets it best; otherwise the original. By
 * measurement such a render has an SSIM of at least 0.98 to one from the original. The original of
 * an SVG is never read: its largest half-way image is the raster grid itself.
 */
export function chooseSource(
  plan: RenderPlan,
  source: SourceFacts,
  mezzanines: readonly Mezzanine[],
): RenderSource {
  const bySize = mezzanines.toSorted((one, other) => one.long_edge - other.long_edge);
  const grid = source.content_type === 'image/svg+xml' ? bySize.at(-1) : undefined;
  const large = bySize.filter((mezzanine) => isEnough(mezzanine, plan, source));
  const candidates = large.length === 0 && grid !== undefined ? [grid] : large;
  let best: Placed | undefined;
  for (const object of candidates) {
    const placed = place(object, plan, source);
    if (best === undefined || placed.off < best.off) best = placed;
    if (best.off <= NEAR_PX) break;
  }
  return best?.chosen ?? { object: 'original', window: plan.window };
}

type Placed = { chosen: RenderSource; off: number };

/** In output pixels: when an edge is further off, a larger half-way image is tried. */
const NEAR_PX = 0.15;

function isEnough(mezzanine: Size, { window, output }: RenderPlan, source: Size): boolean {
  const across = (window.width * mezzanine.width) / source.width;
  const down = (window.height * mezzanine.height) / source.height;
  return (
    across >= MEZZANINE_OUTPUT_FACTOR_MIN * output.width &&
    down >= MEZZANINE_OUTPUT_FACTOR_MIN * output.height
  );
}

function place(object: Mezzanine, { window, output }: RenderPlan, source: Size): Placed {
  const across = frameAxis(object.width, output.width, {
    from: (window.x * object.width) / source.width,
    to: ((window.x + window.width) * object.width) / source.width,
  });
  const down = frameAxis(object.height, output.height, {
    from: (window.y * object.height) / source.height,
    to: ((window.y + window.height) * object.height) / source.height,
  });
  const read: Box = { x: across.from, y: down.from, width: across.length, height: down.length };
  const frame = { x: across.at, y: down.at, width: across.resized, height: down.resized };
  const isOutput = frame.width === output.width && frame.height === output.height;
  return {
    chosen: isOutput ? { object, window: read } : { object, window: read, frame },
    off: Math.max(across.off, down.off),
  };
}

/** One axis of window and frame; `off` is the error of the worse edge, in output pixels. */
type Framed = { from: number; length: number; resized: number; at: number; off: number };
type Span = { from: number; to: number };

/** In output pixels: a smaller error counts as exact. */
const EXACT_PX = 0.02;
/**
 * In pixels of the object, per side: enough to bring an edge within a twentieth of an output pixel.
 */
const MARGIN_PX_MAX = 16;

function frameAxis(side: number, output: number, span: Span): Framed {
  let best = roundAxis(side, output, span);
  // Begins with the smallest margin, so that it wins among equals.
  for (let margin = 0; margin <= 2 * MARGIN_PX_MAX && best.off > EXACT_PX; margin += 1) {
    for (let before = 0; before <= margin; before += 1) {
      const from = Math.floor(span.from) - before;
      const to = Math.ceil(span.to) + margin - before;
      if (from < 0 || to > side) continue;
      const framed = frameSpan({ from, to }, output, span);
      if (framed.off < best.off) best = framed;
    }
  }
  return best;
}

/** Edges are rounded, not sizes, so that a window never leaves the image. */
function roundAxis(side: number, output: number, span: Span): Framed {
  const from = Math.min(Math.round(span.from), side - 1);
  const length = Math.max(1, Math.round(span.to) - from);
  const pixels = (span.to - span.from) / output;
  const off = Math.max(Math.abs(from - span.from), Math.abs(from + length - span.to)) / pixels;
  return { from, length, resized: output, at: 0, off };
}

function frameSpan(read: Span, output: number, span: Span): Framed {
  const length = read.to - read.from;
  const resized = Math.round((output * length) / (span.to - span.from));
  const scale = resized / length;
  const [start, end] = [(span.from - read.from) * scale, (span.to - read.from) * scale];
  const at = Math.min(Math.round(start), resized - output);
  const off = Math.max(Math.abs(start - at), Math.abs(end - at - output));
  return { from: read.from, length, resized, at, off };
}

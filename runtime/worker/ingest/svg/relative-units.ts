/**
 * Bounds of what percentages and units of letters may be relative to, anywhere in a drawing. Strokes and dashes
 * inherit them unresolved, so that each element resolves them by its own viewport and letters. Spec: Limits, Uploads
 * (SVG complexity).
 */
import { oncePerObject } from '../../../core/once-per-object.ts';
import type { Drawing } from './drawing.ts';
import { lengthOf, lengthsOf } from './lengths.ts';
import { viewBoxOf } from './raster-grid.ts';
import type { SvgNode } from './svg-node.ts';

type Bounds = { readonly least: number; readonly most: number };

/** Above zero, so that nothing relative to it disappears. */
const LEAST = 1e-9;
/** A percentage is of the diagonal, which is shorter than the longer side by at most this factor. */
const DIAGONAL = Math.SQRT1_2;

/** A side as long as that of the viewport around adds no bound. */
const asAround: Bounds = { least: Infinity, most: 0 };

/** Of the longer sides of viewports, in the units inside each; `least` of their diagonals. */
export const viewportBounds = oncePerObject(({ styles }: Drawing): Bounds => {
  const found = [...styles.keys()].map(boundsIn);
  const least = found.reduce((sum, one) => Math.min(sum, one.least), asAround.least);
  const most = found.reduce((sum, one) => Math.max(sum, one.most), asAround.most);
  return { least: Math.max(least * DIAGONAL, LEAST), most };
});

const SIDES: Readonly<Record<string, readonly string[]>> = {
  svg: ['width', 'height'],
  use: ['width', 'height'],
  marker: ['markerWidth', 'markerHeight'],
};

function boundsIn(node: SvgNode): Bounds {
  const box = viewBoxOf(node);
  if (box !== undefined) {
    const side = Math.max(box.width, box.height);
    return { least: side, most: side };
  }
  const unsaid = node.name === 'marker' ? '3' : undefined;
  const sides = (SIDES[node.name] ?? []).map((name) => sideOf(node.attributes.get(name) ?? unsaid));
  if (sides.length === 0) return asAround;
  // The shorter side matters less than the longer one.
  return {
    least: Math.max(...sides.map(({ least }) => least)),
    most: Math.max(...sides.map(({ most }) => most)),
  };
}

function sideOf(text: string | undefined): Bounds {
  if (text === undefined) return asAround;
  const percent = /^\s*\+?([\d.]+)%\s*$/.exec(text)?.[1];
  // Viewports of percentages can be nested, so that any part and any multiple is possible.
  if (percent !== undefined) {
    const [isPart, isMultiple] = [Number(percent) < 100, Number(percent) > 100];
    return { least: isPart ? 0 : asAround.least, most: isMultiple ? Infinity : asAround.most };
  }
  const side = lengthOf(text, Infinity);
  return { least: side < Infinity ? side : 0, most: side };
}

const INITIAL_FONT = 16;

/** The smallest letters: none at all where a size depends on that of others. */
export const leastFont = oncePerObject(({ styles }: Drawing): number => {
  const sizes = [...styles.values()].flat().filter(([name]) => /^font(?:-size)?$/.test(name));
  const least = sizes.reduce((sum, [, value]) => {
    const lengths = lengthsOf(value, { font: 0, percent: 0 });
    return Math.min(sum, ...(lengths.length === 0 ? [0] : lengths));
  }, INITIAL_FONT);
  return Math.max(least, LEAST);
});

/** How much larger than in the file what an SVG draws can come out on the grid. */
import { type Drawing, drawnWith } from './drawing.ts';
import { lengthOf } from './lengths.ts';
import { viewBoxOf } from './raster-grid.ts';
import type { SvgNode } from './svg-node.ts';

/**
 * How many pixels of the grid one unit of an element's own coordinates can become, at most, over all
 * the ways that it is drawn. The elements come in an order in which each stands after its users.
 */
export function scalesOf(
  drawing: Drawing,
  inOrder: readonly SvgNode[],
  fontOf: (node: SvgNode) => number,
): Map<SvgNode, number> {
  const scales = new Map<SvgNode, number>([[drawing.root, rootScale(drawing)]]);
  for (const node of inOrder) {
    const scale = scales.get(node) ?? 0;
    for (const one of drawnWith(drawing, node)) {
      const reached = scale * ownScale(drawing, one, fontOf(one));
      scales.set(one, Math.max(scales.get(one) ?? 0, reached));
    }
  }
  return scales;
}

/** The longer side of the picture in the units of its root. */
export function rootUnits(drawing: Drawing): number {
  return Math.max(drawing.grid.width, drawing.grid.height) / rootScale(drawing);
}

function rootScale({ root, grid }: Drawing): number {
  const box = viewBoxOf(root) ?? grid;
  return Math.max(grid.width / box.width, grid.height / box.height);
}

function ownScale(drawing: Drawing, node: SvgNode, font: number): number {
  const texts = (drawing.styles.get(node) ?? [])
    .filter(([property]) => property === 'transform')
    .map(([, value]) => value);
  const pattern = node.attributes.get('patternTransform');
  const all = pattern === undefined ? texts : [...texts, pattern];
  const transform = all.length === 0 ? 1 : Math.max(...all.map(transformScale));
  return transform * viewBoxScale(drawing, node, font);
}

/** A symbol takes its size from what uses it: the picture's own size stands for all that is unsaid. */
function viewBoxScale(drawing: Drawing, node: SvgNode, font: number): number {
  const box = viewBoxOf(node);
  if (box === undefined) return 1;
  const sides = ['width', 'height', 'markerWidth', 'markerHeight'].map((name) =>
    lengthOf(node.attributes.get(name), 0, font),
  );
  return Math.max(rootUnits(drawing), ...sides) / Math.min(box.width, box.height);
}

/** The most that a list of transforms stretches a line by. */
export function transformScale(text: string): number {
  let scale = 1;
  for (const [, name = '', list = ''] of text.matchAll(/\b([a-z]+)\s*\(([^()]*)\)/gi)) {
    const numbers = list.split(/[\s,]+/).map((number) => Math.abs(Number.parseFloat(number)) || 0);
    const [first = 1, second = first] = numbers;
    const kind = name.toLowerCase();
    if (kind === 'matrix') scale *= Math.hypot(...numbers.slice(0, 4));
    else if (kind.startsWith('scale')) scale *= Math.max(first, second);
    else if (kind.startsWith('skew')) scale *= 1 + Math.abs(Math.tan((first * Math.PI) / 180));
  }
  // Endless times nothing: whoever writes it is not believed that nothing is left.
  return Number.isNaN(scale) ? Number.POSITIVE_INFINITY : scale;
}

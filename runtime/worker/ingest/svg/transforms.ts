/** How much an element's transforms stretch it. CSS Transforms. */
import type { Drawing } from './drawing.ts';
import type { SvgNode } from './svg-node.ts';

/** All candidates; one of them applies. */
export function transformsOf({ styles }: Drawing, node: SvgNode): string[] {
  const declared = (styles.get(node) ?? []).filter(([property]) => property === 'transform');
  const pattern = node.attributes.get('patternTransform');
  const texts = declared.map(([, value]) => value);
  return pattern === undefined ? texts : [...texts, pattern];
}

/** The largest factor by which a list of transforms stretches a line. */
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
  // Infinity times zero: we do not trust the file that nothing is left.
  return Number.isNaN(scale) ? Number.POSITIVE_INFINITY : scale;
}

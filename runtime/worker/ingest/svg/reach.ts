/**
 * An upper bound of how far an element draws, in its own units, from all numbers written in it and its contents: it
 * bounds the size of content in fractions of its box (`objectBoundingBox`).
 */
import { type Drawing, drawnWith } from './drawing.ts';
import { lengthsOf } from './lengths.ts';
import { viewBoxOf } from './raster-grid.ts';
import { holdsText, type SvgNode } from './svg-node.ts';
import { transformScale, transformsOf } from './transforms.ts';

const LENGTHS = 'x y x1 y1 x2 y2 cx cy r rx ry width height'.split(' ');
const POINTS = ['d', 'points'];
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi;

/** `inOrder`: users first. `percent`: a hundredth of the picture. */
export function reachesOf(drawing: Drawing, inOrder: readonly SvgNode[], percent: number) {
  const reaches = new Map<SvgNode, number>();
  for (const node of inOrder.toReversed()) {
    const within = drawnWith(drawing, node).map((one) => {
      const texts = transformsOf(drawing, one);
      const moved = (reaches.get(one) ?? 0) + sum(texts.flatMap(numbersOf));
      return moved * Math.max(1, ...texts.map(transformScale));
    });
    reaches.set(node, ownReach(node, percent) + Math.max(0, ...within));
  }
  return reaches;
}

/** Text, and content fitted to a box, may reach anywhere. */
function ownReach(node: SvgNode, percent: number): number {
  const { attributes } = node;
  if (holdsText(node) || viewBoxOf(node) !== undefined) return Number.POSITIVE_INFINITY;
  const around = { font: Number.POSITIVE_INFINITY, percent };
  const lengths = LENGTHS.flatMap((name) => lengthsOf(attributes.get(name) ?? '', around));
  const points = POINTS.flatMap((name) => numbersOf(attributes.get(name) ?? ''));
  return sum(lengths) + sum(points);
}

function numbersOf(text: string): number[] {
  return text.match(NUMBER)?.map(Number) ?? [];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

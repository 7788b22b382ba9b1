/**
 * The cost of one use of a filter: its primitives, each weighted by its work per pixel, times the pixels of its region
 * on the grid. Measured with librsvg: a blur has weight four, a morphology the weight of its area.
 */
import { svgCaps } from '../../../core/image/svg-rules.ts';
import type { Drawing } from './drawing.ts';
import { lengthOf, lengthsOf } from './lengths.ts';
import { rootUnits } from './scales.ts';
import { childElements, type SvgNode } from './svg-node.ts';
import { tooComplex } from './too-complex.ts';

/**
 * `scale`: grid pixels per unit of the element. `font`: its largest possible font size, in its
 * units.
 */
export type FilterUse = {
  readonly element: SvgNode;
  readonly scale: number;
  readonly font: number;
};

/** Throws IngestRefusal when a single primitive exceeds its cap. */
export function filterNs(drawing: Drawing, filter: SvgNode, use: FilterUse): number {
  const isRelative = filter.attributes.get('primitiveUnits') === 'objectBoundingBox';
  const scale = use.scale * (isRelative ? rootUnits(drawing) : 1);
  const weights = childElements(filter).map((primitive) => primitiveWeight(primitive, scale));
  const conversion = isInSrgb(drawing, filter) ? 0 : CONVERSION_WEIGHT;
  return (sum(weights) + conversion) * WEIGHT_NS * regionPixels(drawing, filter, use);
}

/** Without this keyword, colors are converted to linear light and back for each use. */
function isInSrgb(drawing: Drawing, filter: SvgNode): boolean {
  return [filter, ...childElements(filter)].some((one) =>
    drawing.styles.get(one)?.some(([, value]) => value === 'sRGB'),
  );
}

/** Colors, whose numbers are not lengths. */
const COLORS = /#\w+|\b(?:rgb|hsl|hwb|(?:ok)?(?:lab|lch)|color|icc-color)[a-z-]*\([^()]*\)/gi;

/** Filter functions such as `blur(2px)` have no region of their own. */
export function filterFunctionNs(
  drawing: Drawing,
  value: string,
  { scale, font }: FilterUse,
): number {
  const functions = [...value.matchAll(/(?<![a-z-])(?!url\b)([a-z-]+)\(((?:[^()]|\([^()]*\))*)/gi)];
  const weights = functions.map(([, name = '', list = '']) => {
    if (!/^(?:blur|drop-shadow)$/i.test(name)) return 1;
    const lengths = lengthsOf(list.replaceAll(COLORS, ''), { font, percent: 1 });
    const radii = lengths.map((length) => length * scale);
    refuseAbove(svgCaps.filter_radius, name, Math.max(0, ...radii.slice(-3)));
    return BLUR_WEIGHT + 1;
  });
  return sum(weights) * WEIGHT_NS * gridPixels(drawing);
}

/** Time of one core per pixel and unit of weight. */
const WEIGHT_NS = 220;
const CONVERSION_WEIGHT = 2;
const MERGE_WEIGHT_PER_NODE = 0.1;
/**
 * Primitives that only move, overlay or recolor, with measured weights; displacement is the
 * slowest.
 */
const PLAIN_WEIGHTS: Readonly<Record<string, number>> = {
  feFlood: 0.15,
  feOffset: 0.15,
  feBlend: 0.15,
  feComposite: 0.6,
  feColorMatrix: 0.7,
  feComponentTransfer: 0.7,
  feDisplacementMap: 18,
};
const BLUR_WEIGHT = 4;
const LIGHT_WEIGHT = 2.5;
const MORPHOLOGY_WEIGHT_PER_TAP = 0.25;
const CONVOLVE_WEIGHT_PER_TAP = 0.6;
const TURBULENCE_WEIGHT_PER_OCTAVE = 2;

function primitiveWeight({ name, attributes, children }: SvgNode, scale: number): number {
  const numbers = (attribute: string, otherwise: number) =>
    (attributes.get(attribute) ?? `${otherwise}`)
      .trim()
      .split(/[\s,]+/)
      .map((text) => numberOf(text, otherwise));
  const radius = (attribute: string) => {
    const [x = 0, y = x] = numbers(attribute, attribute === 'radius' ? 0 : 2);
    refuseAbove(svgCaps.filter_radius, name, Math.max(x, y) * scale);
    return [x * scale, y * scale] as const;
  };
  switch (name) {
    case 'feGaussianBlur':
    case 'feDropShadow':
      radius('stdDeviation');
      return BLUR_WEIGHT + 1;
    case 'feMorphology': {
      const [x, y] = radius('radius');
      return 1 + (2 * x + 1) * (2 * y + 1) * MORPHOLOGY_WEIGHT_PER_TAP;
    }
    case 'feConvolveMatrix': {
      const [columns = 3, rows = columns] = numbers('order', 3);
      refuseAbove(svgCaps.convolve_order, name, Math.max(columns, rows));
      return 1 + columns * rows * CONVOLVE_WEIGHT_PER_TAP;
    }
    case 'feTurbulence': {
      const [octaves = 1] = numbers('numOctaves', 1);
      refuseAbove(svgCaps.turbulence_octaves, name, octaves);
      return 1 + octaves * TURBULENCE_WEIGHT_PER_OCTAVE;
    }
    case 'feMerge':
      return children.length * MERGE_WEIGHT_PER_NODE;
    case 'feDiffuseLighting':
    case 'feSpecularLighting':
      return LIGHT_WEIGHT;
    default:
      return PLAIN_WEIGHTS[name] ?? 1;
  }
}

function regionPixels(drawing: Drawing, filter: SvgNode, use: FilterUse): number {
  const { width, height } =
    filter.attributes.get('filterUnits') === 'userSpaceOnUse'
      ? absoluteRegion(filter)
      : relativeRegion(drawing, filter, use.element);
  const pixels = width * use.scale * height * use.scale;
  // Even the smallest region needs images of the whole grid. An unknown one is infinite or NaN.
  const least = gridPixels(drawing) * REGION_SHARE_MIN;
  return pixels < gridPixels(drawing) ? Math.max(least, pixels) : gridPixels(drawing);
}

function absoluteRegion({ attributes }: SvgNode) {
  return {
    width: lengthOf(attributes.get('width'), Number.POSITIVE_INFINITY),
    height: lengthOf(attributes.get('height'), Number.POSITIVE_INFINITY),
  };
}

const REGION_SHARE = 1.2;
const REGION_SHARE_MIN = 1 / 64;

function relativeRegion({ is_turned }: Drawing, { attributes }: SvgNode, element: SvgNode) {
  const box = boxOf(element, is_turned ? TURNED_SHARE : 1);
  return {
    width: box.width * share(attributes.get('width')),
    height: box.height * share(attributes.get('height')),
  };
}

function share(text: string | undefined): number {
  if (!text?.trim().endsWith('%')) return lengthOf(text, REGION_SHARE);
  return Math.abs(Number.parseFloat(text)) / 100;
}

/** A rotated box needs a larger upright box. */
const TURNED_SHARE = 1.5;

/** The box of shapes that state their size, without strokes; infinite for all others. */
function boxOf({ name, attributes }: SvgNode, times: number): { width: number; height: number } {
  const at = (attribute: string) =>
    times * lengthOf(attributes.get(attribute), Number.POSITIVE_INFINITY);
  if (name === 'rect') return { width: at('width'), height: at('height') };
  if (name === 'circle') return { width: 2 * at('r'), height: 2 * at('r') };
  if (name === 'ellipse') return { width: 2 * at('rx'), height: 2 * at('ry') };
  return { width: Number.POSITIVE_INFINITY, height: Number.POSITIVE_INFINITY };
}

/** The first number of an attribute; a percentage does not count. */
function numberOf(text: string | undefined, otherwise: number): number {
  const number = Number.parseFloat(text ?? '');
  return Number.isFinite(number) && !text?.includes('%') ? Math.abs(number) : otherwise;
}

function gridPixels({ grid }: Drawing): number {
  return grid.width * grid.height;
}

function refuseAbove(limit: number, name: string, value: number): void {
  if (value > limit) throw tooComplex(`${name}: ${value} > ${limit}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

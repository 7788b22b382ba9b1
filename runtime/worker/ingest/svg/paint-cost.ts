/**
 * What paints, strokes, layers and filters add to the cost of what is drawn with them, in nanoseconds of one core,
 * measured with librsvg.
 */
import { svgLayerProperties } from '../../../core/image/svg-rules.ts';
import type { Cost } from './cost.ts';
import { type Drawing, referencesOf } from './drawing.ts';
import { lengthOf, lengthsOf } from './lengths.ts';
import { addDashes } from './peak-memory.ts';
import type { SvgSize } from './raster-grid.ts';
import type { Declaration } from './style.ts';
import type { SvgNode } from './svg-node.ts';
import { transformScale } from './transforms.ts';

const LINEAR_NS = 15;
const RADIAL_NS = 30;
const PATTERN_NS = { small: 800, large: 160 };
const LARGE_TILE_PIXELS = 100;

/** A colour of a gradient: looked for at each pixel, and laid out for each shape, among all that it has. */
const STOP_PIXEL_NS = 0.6;
const STOP_NS = 900;
const STOP_PAIR_NS = 2;
/** Of each gradient that one is made after, for each shape, whether they are used or not. */
const STOP_COPY_NS = 130;

/** On so many pixels of so many shapes. */
export function gradientNs(
  drawing: Drawing,
  gradient: SvgNode,
  { area, shapes }: { area: number; shapes: number },
): number {
  const { most, all } = stopsOf(drawing, gradient);
  const plain = gradient.name === 'linearGradient' ? LINEAR_NS : RADIAL_NS;
  const laidOut = most * (STOP_NS + most * STOP_PAIR_NS);
  return area * (plain + most * STOP_PIXEL_NS) + shapes * (laidOut + all * STOP_COPY_NS);
}

/** Of it and of those that it is made after: the most of one, and all of them. */
type Stops = { readonly most: number; readonly all: number };

/** One gradient may paint thousands of shapes. */
const stopsKnown = new WeakMap<SvgNode, Stops>();

function stopsOf(drawing: Drawing, gradient: SvgNode): Stops {
  const known = stopsKnown.get(gradient);
  if (known !== undefined) return known;
  const own = gradient.children.length;
  const model = referencesOf(drawing, gradient).find(({ by }) => by === 'href')?.target;
  const { most, all } = model === undefined ? { most: 0, all: 0 } : stopsOf(drawing, model);
  const stops = { most: Math.max(own, most), all: own + all };
  stopsKnown.set(gradient, stops);
  return stops;
}

/**
 * A pixel of any other paint; small tiles are fetched again for each, and those that go by letters may be small.
 * `painted`: pixels that a unit of what is painted becomes: a tile is as large as it says there, whatever is in it.
 */
export function paintNs(paint: SvgNode, painted: number): number {
  if (paint.name !== 'pattern') return RADIAL_NS;
  const scale = painted * transformScale(paint.attributes.get('patternTransform') ?? '');
  const sides = ['width', 'height'].map(
    (name) => lengthOf(paint.attributes.get(name), 0, 0) * scale,
  );
  return PATTERN_NS[Math.min(...sides) < LARGE_TILE_PIXELS ? 'small' : 'large'];
}

/** Of what is written in another way, as in powers of ten, nobody has to tell whether it is opaque. */
const NO_LAYER: Readonly<Record<string, RegExp>> = {
  opacity: /^(?:[1-9]\d*(?:\.\d*)?|[1-9]\d{2,}(?:\.\d*)?%)$/,
  'mix-blend-mode': /^normal$/,
  isolation: /^auto$/,
};

/** What layers an element is drawn on, in a drawing of these styles. */
export function layerReader(
  styles: ReadonlyMap<SvgNode, readonly Declaration[]>,
): (node: SvgNode) => ReadonlySet<string> {
  const hasOpacity = [...styles.values()]
    .flat()
    .some((one) => one[0] === 'opacity' && !isInherited(one) && isLayer(one));
  return (node) => {
    const layers = (styles.get(node) ?? []).filter(isLayer);
    return new Set(layers.filter((one) => hasOpacity || !isInherited(one)).map(([name]) => name));
  };
}

/** An opacity that is that of the element around, if any element has one. */
function isInherited([property, value]: Declaration): boolean {
  return property === 'opacity' && value === 'inherit';
}

function isLayer([property, value]: Declaration): boolean {
  if (!svgLayerProperties.has(property) || value === 'none') return false;
  return !NO_LAYER[property]?.test(value);
}

/** A pixel of the whole grid, for each: layers are as large as the picture. */
const LAYER_PIXEL_NS: Readonly<Record<string, number>> = {
  opacity: 2.5,
  isolation: 2.5,
  'clip-path': 3,
  filter: 7,
  mask: 38,
  'mix-blend-mode': 35,
};

export function layersCost(layers: ReadonlySet<string>, { width, height }: SvgSize): number {
  const ns = [...layers].reduce((sum, layer) => sum + (LAYER_PIXEL_NS[layer] ?? 0), 0);
  return ns * width * height;
}

const FILTER_UNIT_NS = 220;

export function addFilter(cost: { filter_pixels: number; ns: number }, pixels: number): void {
  cost.filter_pixels += pixels;
  cost.ns += pixels * FILTER_UNIT_NS;
}

type Stroked = Pick<Cost, 'ns' | 'stroke_ns' | 'length' | 'width' | 'peak'>;

const DASH_NS = 3000;
/** Where dashes are wider than long, each crosses those around it. */
const DASH_CROSSING_NS = 4000;
/** The shorter the more: what goes by something else is taken for a pixel of each. */
const AROUND_DASHES = { font: 1, percent: 1 };

/** A stroke that an element gives to all in it that have none yet. */
export function addStroke(
  cost: Stroked,
  declarations: readonly Declaration[],
  unsure: ReadonlySet<Declaration>,
): void {
  if (declarations.some(([property, value]) => property === 'stroke' && value !== 'none')) {
    cost.ns += cost.stroke_ns;
    cost.stroke_ns = 0;
  }
  const dashed = declarations.filter((one) => one[0] === 'stroke-dasharray' && periodOf(one) > 0);
  for (const declaration of dashed) {
    const period = periodOf(declaration);
    const dashes = cost.length / period;
    const overlaps = Math.min(dashes, cost.width / period);
    cost.ns += dashes * (DASH_NS + (overlaps > 1 ? overlaps * DASH_CROSSING_NS : 0));
    addDashes(cost.peak, period);
  }
  if (dashed.every((one) => unsure.has(one))) return;
  // What has dashes of its own takes none of those around.
  cost.length = 0;
  cost.peak.length = 0;
}

/** That of a rule holds for thousands of elements. */
const periods = new WeakMap<Declaration, number>();

function periodOf(dashes: Declaration): number {
  const known = periods.get(dashes);
  if (known !== undefined) return known;
  const numbers = lengthsOf(dashes[1], AROUND_DASHES);
  const period = numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
  periods.set(dashes, period);
  return period;
}

/** Of a stroke that does not scale, dashes are as many pixels as they say. */
export function isFixed(declarations: readonly Declaration[]): boolean {
  return declarations.some(
    ([property, value]) => property === 'vector-effect' && /non-scaling-stroke/i.test(value),
  );
}

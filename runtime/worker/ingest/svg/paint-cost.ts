/**
 * The cost that paints, strokes, layers and filters add to what is drawn with them, in nanoseconds of one core,
 * measured with librsvg.
 */
import { svgLayerProperties } from '../../../core/image/svg-rules.ts';
import type { Cost } from './cost.ts';
import { type Drawing, referencesOf } from './drawing.ts';
import { lengthOf, lengthsOf } from './lengths.ts';
import { addDashes, hasStroke } from './peak-memory.ts';
import type { SvgSize } from './raster-grid.ts';
import { leastFont, viewportBounds } from './relative-units.ts';
import type { Declaration } from './style.ts';
import type { SvgNode } from './svg-node.ts';
import { transformScale } from './transforms.ts';

const LINEAR_NS = 15;
const RADIAL_NS = 30;
const PATTERN_NS = { small: 800, large: 160 };
const LARGE_TILE_PIXELS = 100;

/**
 * Per color stop of a gradient: searched at each pixel, and laid out for each shape among all
 * stops.
 */
const STOP_PIXEL_NS = 0.6;
const STOP_NS = 900;
const STOP_PAIR_NS = 2;
/** Per stop of each template of a gradient, for each shape, whether used or not. */
const STOP_COPY_NS = 130;

/** The cost for `area` pixels of `shapes` shapes. */
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

/** Of a gradient and its templates: the most stops of one, and the sum. */
type Stops = { readonly most: number; readonly all: number };

/** Cached, because one gradient may paint thousands of shapes. */
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
 * Nanoseconds per pixel of any other paint. Small tiles cost more, as they are fetched again for
 * each; tiles sized by letters may be small. `painted`: pixels per unit of the painted element, in
 * which the tile's size is stated, whatever it contains.
 */
export function paintNs(paint: SvgNode, painted: number): number {
  if (paint.name !== 'pattern') return RADIAL_NS;
  const scale = painted * transformScale(paint.attributes.get('patternTransform') ?? '');
  const sides = ['width', 'height'].map(
    (name) => lengthOf(paint.attributes.get(name), 0, 0) * scale,
  );
  return PATTERN_NS[Math.min(...sides) < LARGE_TILE_PIXELS ? 'small' : 'large'];
}

/**
 * Values that surely need no layer. Other notations, such as powers of ten, are not checked for
 * being opaque.
 */
const NO_LAYER: Readonly<Record<string, RegExp>> = {
  opacity: /^(?:[1-9]\d*(?:\.\d*)?|[1-9]\d{2,}(?:\.\d*)?%)$/,
  'mix-blend-mode': /^normal$/,
  isolation: /^auto$/,
};

/**
 * Returns a function that gives the layers on which an element is drawn, for a drawing with these
 * styles.
 */
export function layerReader(
  styles: ReadonlyMap<SvgNode, readonly Declaration[]>,
): (node: SvgNode) => ReadonlySet<string> {
  const hasOpacity = [...styles.values()]
    .flat()
    .some((one) => one[0] === 'opacity' && !isInherited(one) && isLayer(one));
  return (node) => {
    const layers = (styles.get(node) ?? []).filter(
      (one) => isLayer(one) && (hasOpacity || !isInherited(one)),
    );
    return new Set(layers.map(([name]) => name));
  };
}

/** An opacity inherited from the parent, relevant only if any element has one. */
function isInherited([property, value]: Declaration): boolean {
  return property === 'opacity' && value === 'inherit';
}

function isLayer([property, value]: Declaration): boolean {
  if (!svgLayerProperties.has(property) || value === 'none') return false;
  return !NO_LAYER[property]?.test(value);
}

/** Per pixel of the whole grid for each layer: layers are as large as the image. */
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

type Stroked = Pick<Cost, 'ns' | 'stroke_ns' | 'length' | 'width' | 'peak'>;

const DASH_NS = 3000;
/** When dashes are wider than long, each crosses its neighbours. */
const DASH_CROSSING_NS = 4000;

/** Adds the stroke that an element gives to all contents without their own. */
export function addStroke(
  cost: Stroked,
  declarations: readonly Declaration[],
  drawing: Drawing,
): void {
  if (hasStroke(declarations)) {
    cost.ns += cost.stroke_ns;
    cost.stroke_ns = 0;
  }
  const dashed = declarations.filter(
    (one) => one[0] === 'stroke-dasharray' && periodOf(one, drawing) > 0,
  );
  for (const declaration of dashed) {
    const period = periodOf(declaration, drawing);
    const dashes = cost.length / period;
    const overlaps = Math.min(dashes, cost.width / period);
    cost.ns += dashes * (DASH_NS + (overlaps > 1 ? overlaps * DASH_CROSSING_NS : 0));
    addDashes(cost.peak, period);
  }
  if (dashed.every((one) => drawing.unsure.has(one))) return;
  // Contents with their own dashes do not use those of ancestors.
  cost.length = 0;
  cost.peak.length = 0;
}

/** Cached, because a rule's declaration applies to thousands of elements. */
const periods = new WeakMap<Declaration, number>();

/** Shorter dashes cost more: relative units are as small as any element may resolve them. */
function periodOf(dashes: Declaration, drawing: Drawing): number {
  const known = periods.get(dashes);
  if (known !== undefined) return known;
  const smallest = { font: leastFont(drawing), percent: viewportBounds(drawing).least / 100 };
  const numbers = lengthsOf(dashes[1], smallest);
  const period = numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
  periods.set(dashes, period);
  return period;
}

/** Whether the stroke does not scale; its dash lengths are then in pixels. */
export function isFixed(declarations: readonly Declaration[]): boolean {
  return declarations.some(
    ([property, value]) => property === 'vector-effect' && /non-scaling-stroke/i.test(value),
  );
}

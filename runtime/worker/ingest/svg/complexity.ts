/**
 * Computes the cost of drawing an SVG without drawing it: elements after all references are followed, layers, filters.
 * Spec: Limits, Uploads (SVG complexity: very complex SVGs are refused).
 */
import { svgCaps } from '../../../core/image/svg-rules.ts';
import { readAppliedStyles } from './applied-styles.ts';
import { add, addInherited, type Cost } from './cost.ts';
import {
  type Drawing,
  drawnChildren,
  type Reference,
  readDrawing,
  referencesOf,
  sortTopologically,
} from './drawing.ts';
import { filterFunctionNs, filterNs } from './filter-cost.ts';
import { type FontsCost, fontsCost } from './font-cost.ts';
import { addStroke, gradientNs, isFixed, layerReader, layersCost, paintNs } from './paint-cost.ts';
import {
  addLayer,
  addPaint,
  type Pen,
  peakBytes,
  penOf,
  shapePeak,
  tileGrids,
} from './peak-memory.ts';
import type { SvgSize } from './raster-grid.ts';
import { type ElementScale, scalesOf } from './scales.ts';
import { type ShapeCost, type ShapePlace, shapeCost, TEXTS } from './shape-cost.ts';
import type { Declaration } from './style.ts';
import { stylesCost } from './style-cost.ts';
import { allElements, type SvgNode } from './svg-node.ts';
import { type LetterSize, letterSizesOf } from './text-cost.ts';
import { tooComplex } from './too-complex.ts';
import { COPY_NS, copiedBytes } from './value-cost.ts';

/** Memory in addition to the grid itself; time of one core. */
export type DrawingNeeds = { memory_bytes: number; cpu_ms: number };

/**
 * Throws IngestRefusal for a drawing that exceeds one of the caps; returns the needs of any other.
 */
export function readComplexity(root: SvgNode, grid: SvgSize): DrawingNeeds {
  const styles = readAppliedStyles(root);
  const elements = allElements(root).length;
  check('style_matches', styles.rule_count * elements);
  const styles_ns = stylesCost(styles, root);
  check('drawing_ns', styles_ns);
  const reader = new CostReader(readDrawing(root, styles, grid));
  const cost = reader.read();
  const copied = copiedBytes(root);
  cost.ns += styles_ns + copied * (elements + cost.elements) * COPY_NS + reader.fonts.ns;
  check('drawing_ns', cost.ns);
  check('expanded_elements', cost.elements);
  check('layers', cost.layers);
  check('layer_depth', cost.layer_depth);
  const memory_bytes = peakBytes(cost.peak, grid) + copied * elements + reader.fonts.memory_bytes;
  return { memory_bytes, cpu_ms: cost.ns / 1_000_000 };
}

/** Per element, in addition to what it draws. */
const ELEMENT_NS = 30_000;
const SHAPES = new Set([...'path rect circle ellipse line polyline polygon'.split(' '), ...TEXTS]);

const unseen: ElementScale = { scale: 0, viewport: 0 };

class CostReader {
  readonly fonts: FontsCost;
  readonly #drawing: Drawing;
  readonly #scales: ReadonlyMap<SvgNode, ElementScale>;
  readonly #letterOf: (node: SvgNode) => LetterSize;
  readonly #known = new Map<SvgNode, Cost>();
  readonly #pen: Pen;
  readonly #layersOf: (node: SvgNode) => ReadonlySet<string>;
  /** Vertices are only counted if the drawing has markers. */
  readonly #hasMarkers: boolean;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
    const inOrder = sortTopologically(drawing);
    this.fonts = fontsCost(drawing, inOrder);
    this.#letterOf = letterSizesOf(drawing, inOrder);
    this.#scales = scalesOf(drawing, inOrder, {
      fontOf: this.#fontOf,
      spanOf: this.#spanOf,
      strokeOf: (node) => this.#letterOf(node).stroke,
    });
    this.#pen = penOf(drawing);
    this.#layersOf = layerReader(drawing.styles);
    this.#hasMarkers = [...drawing.references.values()].some((all) =>
      all.some(({ by }) => by.startsWith('marker')),
    );
  }

  read(): Cost {
    return this.#costOf(this.#drawing.root);
  }

  /** There are no cycles: ordering the elements has detected them. */
  #costOf(node: SvgNode): Cost {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const cost = this.#ownCost(node);
    for (const child of drawnChildren(node)) {
      addInherited(cost, this.#costOf(child));
      // Stops early, as the rest could only add to it.
      check('drawing_ns', cost.ns);
    }
    const scale = this.#scaleOf(node);
    for (const reference of referencesOf(this.#drawing, node)) {
      this.#addReference(cost, reference, scale);
    }
    this.#addLayers(cost, node);
    this.#known.set(node, cost);
    return cost;
  }

  /** A paint or a marker of a group applies to everything in it. */
  #addReference(cost: Cost, { by, target }: Reference, scale: number): void {
    if (by === 'filter') return;
    if (target.name.endsWith('Gradient')) {
      if (by !== 'href') cost.ns += gradientNs(this.#drawing, target, cost);
      return;
    }
    if (by === 'href') {
      addInherited(cost, this.#costOf(target));
      return;
    }
    const isPaint = by === 'fill' || by === 'stroke';
    if (isPaint) cost.ns += cost.area * paintNs(target, scale);
    const isMarker = by.startsWith('marker');
    const more = this.#costOf(target);
    add(cost, more, isPaint ? cost.shapes : isMarker ? cost.vertices : 1);
    const painted = { peak: cost.peak, font: this.#fontOf(target) };
    const tile = isPaint ? tileGrids(this.#drawing, target, painted) : 0;
    if (isPaint || isMarker) addPaint(cost.peak, { tile, peak: more.peak });
  }

  #addLayers(cost: Cost, node: SvgNode): void {
    const declarations = this.#drawing.styles.get(node) ?? [];
    if (declarations.length === 0) return;
    const layers = this.#layersOf(node);
    cost.layers += layers.size;
    cost.ns += layersCost(layers, this.#drawing.grid);
    addStroke(cost, declarations, this.#drawing);
    cost.layer_depth += layers.size === 0 ? 0 : 1;
    const use = { element: node, scale: this.#scaleOf(node), font: this.#fontOf(node) };
    for (const { by, target } of referencesOf(this.#drawing, node)) {
      if (by === 'filter') cost.ns += filterNs(this.#drawing, target, use);
    }
    for (const [name, value] of declarations) {
      if (name === 'filter') cost.ns += filterFunctionNs(this.#drawing, value, use);
    }
    const peakOf = (target: SvgNode) => this.#costOf(target).peak;
    addLayer(cost.peak, layers, { references: referencesOf(this.#drawing, node), peakOf });
  }

  /** The largest possible font size of the element. */
  readonly #fontOf = (node: SvgNode): number => this.#letterOf(node).font;

  #scaleOf(node: SvgNode): number {
    return this.#seenOf(node).scale;
  }

  #seenOf(node: SvgNode): ElementScale {
    return this.#scales.get(node) ?? unseen;
  }

  #ownCost(node: SvgNode): Cost {
    const isShape = SHAPES.has(node.name);
    const place = this.#placedAt(node, this.#seenOf(node));
    // A shape scaled to zero is not drawn, whatever size it states.
    const shape = isShape && place.scale > 0 ? shapeCost(node, place) : undefined;
    const declarations = this.#drawing.styles.get(node) ?? [];
    const length = shape === undefined ? 0 : dashedLength(shape, place.scale, declarations);
    return {
      elements: 1,
      shapes: isShape ? 1 : 0,
      vertices: isShape && this.#hasMarkers ? vertexCount(node) : 0,
      layers: 0,
      layer_depth: 0,
      ns: ELEMENT_NS + (shape?.fill_ns ?? 0),
      stroke_ns: shape?.stroke_ns ?? 0,
      area: shape?.area ?? 0,
      length,
      width: length === 0 ? 0 : place.letter.stroke,
      peak: { ...shapePeak(shape, place, this.#pen), length },
    };
  }

  /** Undefined for text, which may be spaced out beyond its counted size. */
  readonly #spanOf = (node: SvgNode, seen: ElementScale): number | undefined =>
    TEXTS.has(node.name) ? undefined : shapeCost(node, this.#placedAt(node, seen))?.span;

  #placedAt(node: SvgNode, { scale, viewport }: ElementScale): ShapePlace {
    return {
      scale,
      percent: viewport / 100,
      grid: this.#drawing.grid,
      letter: this.#letterOf(node),
      sets_fonts: this.fonts.are_many,
    };
  }
}

/** Dash lengths are in the shape's units, or in pixels if the stroke does not scale. */
function dashedLength({ length }: ShapeCost, scale: number, declarations: readonly Declaration[]) {
  return isFixed(declarations) ? length : length / scale;
}

/** At most one vertex per written number, and one per return to the start. */
function vertexCount({ attributes }: SvgNode): number {
  const text = attributes.get('d') ?? attributes.get('points') ?? '';
  return 2 + (text.match(/\d+|z/gi)?.length ?? 0);
}

function check(cap: keyof typeof svgCaps, value: number): void {
  // Negated, so that NaN from infinite sums is refused too.
  if (!(value <= svgCaps[cap])) throw tooComplex(`${value} ${cap}, at most ${svgCaps[cap]}`);
}

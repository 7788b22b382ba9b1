/** The largest scale at which each part of an SVG can appear on the grid. */
import { type Drawing, inheritedAttribute, type Reference, referencesOf } from './drawing.ts';
import { FARTHEST } from './far-curves.ts';
import { lengthsOf, plainLength } from './lengths.ts';
import { type SvgSize, viewBoxOf } from './raster-grid.ts';
import { reachesOf } from './reach.ts';
import { childElements, type SvgNode } from './svg-node.ts';
import { transformScale, transformsOf } from './transforms.ts';

type Measures = {
  /** The largest possible font size of an element, in its units. */
  readonly fontOf: (node: SvgNode) => number;
  /** Pixels of the longer side of a shape's box; undefined for anything but a shape. */
  readonly spanOf: (node: SvgNode, at: ElementScale) => number | undefined;
  /** The largest possible stroke width of an element, in its units. */
  readonly strokeOf: (node: SvgNode) => number;
};

/** The maximum over all places where an element is drawn. */
export type ElementScale = {
  /** Grid pixels per unit of its own coordinates. */
  readonly scale: number;
  /** The longer side of the viewport to which its percentages refer, in its units. */
  readonly viewport: number;
};

/** `inOrder`: each element comes after its users. */
export function scalesOf(
  drawing: Drawing,
  inOrder: readonly SvgNode[],
  measures: Measures,
): ReadonlyMap<SvgNode, ElementScale> {
  return new ScaleReader(drawing, inOrder, measures).scales;
}

type Sides = {
  /** The longer side of the viewport around an element, in the units of its parent. */
  readonly viewport: number;
  /** The longest side that a `use` gives it, in the same units. */
  readonly asked: number;
};

/** Where an element is drawn: the maximum over all its places. */
type Place = Sides & {
  /** Grid pixels per unit of its parent. */
  readonly scale: number;
};

const nowhere: Place = { scale: 0, viewport: 0, asked: 0 };

class ScaleReader {
  readonly scales = new Map<SvgNode, ElementScale>();
  readonly #drawing: Drawing;
  readonly #inOrder: readonly SvgNode[];
  readonly #measures: Measures;
  readonly #places = new Map<SvgNode, Place>();
  #reaches: ReadonlyMap<SvgNode, number> | undefined;
  #stretches: ReadonlyMap<SvgNode, number> | undefined;
  #strokes: ReadonlyMap<SvgNode, number> | undefined;

  constructor(drawing: Drawing, inOrder: readonly SvgNode[], measures: Measures) {
    this.#drawing = drawing;
    this.#inOrder = inOrder;
    this.#measures = measures;
    for (const node of inOrder) this.#read(node);
  }

  #read(node: SvgNode): void {
    const place = this.#places.get(node) ?? nowhere;
    const isRoot = node === this.#drawing.root;
    const scale = isRoot ? rootScale(this.#drawing) : this.#scaleOf(node, place);
    const viewport = isRoot ? rootUnits(this.#drawing) : this.#viewportIn(node, place);
    const seen = { scale, viewport };
    this.scales.set(node, seen);
    for (const child of childElements(node)) this.#draw(child, { scale, viewport, asked: 0 });
    const asked = node.name === 'use' ? this.#ownSide(node, viewport) : 0;
    for (const reference of referencesOf(this.#drawing, node)) {
      const within = this.#scaleWithin(node, reference, seen);
      this.#draw(reference.target, { scale: within, viewport, asked });
    }
  }

  #scaleWithin(node: SvgNode, { by, target }: Reference, seen: ElementScale): number {
    const units = BOX_UNITS[by];
    if (
      units !== undefined &&
      inheritedAttribute(this.#drawing, target, units) === 'objectBoundingBox'
    ) {
      return this.#boxPixels(node, seen);
    }
    if (!INHERITED.test(by)) return seen.scale;
    const within = isInStrokes(target) ? this.#strokesWithin : this.#stretchesWithin;
    return product(seen.scale, within().get(node) ?? 1);
  }

  #draw(node: SvgNode, { scale, viewport, asked }: Place): void {
    const known = this.#places.get(node) ?? nowhere;
    this.#places.set(node, {
      scale: Math.max(known.scale, scale),
      viewport: Math.max(known.viewport, viewport),
      asked: Math.max(known.asked, asked),
    });
  }

  #scaleOf(node: SvgNode, place: Place): number {
    return product(place.scale, this.#ownStretch(node, place));
  }

  #ownStretch(node: SvgNode, sides: Sides): number {
    const transforms = transformsOf(this.#drawing, node).map(transformScale);
    const transform = transforms.length === 0 ? 1 : Math.max(...transforms);
    const box = viewBoxOf(node);
    const fitted = box === undefined ? 1 : this.#sideOf(node, sides) / fittedSide(node, box);
    return product(transform, fitted);
  }

  #viewportIn(node: SvgNode, place: Place): number {
    const box = viewBoxOf(node);
    if (box !== undefined) return Math.max(box.width, box.height);
    return VIEWPORTS.has(node.name) ? this.#sideOf(node, place) : place.viewport;
  }

  #sideOf(node: SvgNode, { viewport, asked }: Sides): number {
    return node.name === 'symbol' ? asked : Math.max(asked, this.#ownSide(node, viewport));
  }

  /** The longer side; an unstated one counts as the surrounding viewport's, except for markers. */
  #ownSide(node: SvgNode, viewport: number): number {
    const around = { font: this.#measures.fontOf(node), percent: viewport / 100 };
    const isMarker = node.name === 'marker';
    const unsaid = isMarker ? MARKER_SIDE : viewport;
    const sides = (isMarker ? MARKER_SIDES : SIDES).map((name) => {
      const text = node.attributes.get(name);
      if (text === undefined) return unsaid;
      return plainLength(text, around) ?? Math.max(unsaid, ...lengthsOf(text, around));
    });
    return Math.max(...sides);
  }

  #boxPixels(node: SvgNode, seen: ElementScale): number {
    const { spanOf } = this.#measures;
    return Math.min(spanOf(node, seen) ?? product(seen.scale, 2 * this.#reachOf(node)), FARTHEST);
  }

  /** The largest factor by which an element enlarges what is drawn in it. */
  readonly #stretchesWithin = () => (this.#stretches ??= this.#foldUp(() => 1));

  /** The largest width of a stroke in an element, in the element's units. */
  readonly #strokesWithin = () => (this.#strokes ??= this.#foldUp(this.#measures.strokeOf));

  /**
   * For each element the largest measure of the innermost elements in it, scaled to the element's
   * units.
   */
  #foldUp(innermost: (node: SvgNode) => number): ReadonlyMap<SvgNode, number> {
    const viewport = rootUnits(this.#drawing);
    const uses = this.#inOrder.filter(({ name }) => name === 'use');
    const asked = Math.max(0, ...uses.map((use) => this.#ownSide(use, viewport)));
    const found = new Map<SvgNode, number>();
    for (const node of this.#inOrder.toReversed()) {
      const used = referencesOf(this.#drawing, node).filter(({ by }) => by === 'href');
      const within = [...childElements(node), ...used.map(({ target }) => target)];
      const sizes = within.map((one) =>
        product(this.#ownStretch(one, { viewport, asked }), found.get(one) ?? 0),
      );
      found.set(node, within.length === 0 ? innermost(node) : Math.max(...sizes));
    }
    return found;
  }

  #reachOf(node: SvgNode): number {
    this.#reaches ??= reachesOf(this.#drawing, this.#inOrder, rootUnits(this.#drawing) / 100);
    return this.#reaches.get(node) ?? 0;
  }
}

const SIDES = ['width', 'height'];
const MARKER_SIDES = ['markerWidth', 'markerHeight'];
const VIEWPORTS = new Set(['svg', 'symbol', 'marker']);
/** The default side of a marker, in its own units. */
const MARKER_SIDE = 3;

/** The attribute that puts a target's content in fractions of the referring element's box. */
const BOX_UNITS: Readonly<Record<string, string>> = {
  'clip-path': 'clipPathUnits',
  mask: 'maskContentUnits',
  fill: 'patternContentUnits',
  stroke: 'patternContentUnits',
};

/** These properties apply to everything in an element, at the scale it has there. */
const INHERITED = /^(?:fill|stroke|marker)/;

function isInStrokes({ name, attributes }: SvgNode): boolean {
  return name === 'marker' && attributes.get('markerUnits') !== 'userSpaceOnUse';
}

/** The side of a viewBox whose fitting gives the largest possible scale. */
function fittedSide({ attributes }: SvgNode, { width, height }: SvgSize): number {
  const isCut = /none|slice/.test(attributes.get('preserveAspectRatio') ?? '');
  return isCut ? Math.min(width, height) : Math.max(width, height);
}

/** The longer side of the picture in the units of its root. */
export function rootUnits(drawing: Drawing): number {
  return Math.max(drawing.grid.width, drawing.grid.height) / rootScale(drawing);
}

function rootScale({ root, grid }: Drawing): number {
  const box = viewBoxOf(root) ?? grid;
  return Math.max(grid.width / box.width, grid.height / box.height);
}

/** Zero times infinity counts as zero. */
function product(one: number, other: number): number {
  return one * other || 0;
}

/** How much larger than in the file what an SVG draws can come out on the grid. */
import { type Drawing, type Reference, referencesOf, saidBy } from './drawing.ts';
import { FARTHEST } from './far-curves.ts';
import { lengthsOf, plainLength } from './lengths.ts';
import { type SvgSize, viewBoxOf } from './raster-grid.ts';
import { reachesOf } from './reach.ts';
import { childElements, type SvgNode } from './svg-node.ts';
import { transformScale, transformsOf } from './transforms.ts';

type Measures = {
  /** How large the letters of an element may be, in its units. */
  readonly fontOf: (node: SvgNode) => number;
  /** Pixels of the longer side of a shape's box; undefined for what is none. */
  readonly spanOf: (node: SvgNode, at: Seen) => number | undefined;
  /** How wide the stroke of an element may be, in its units. */
  readonly strokeOf: (node: SvgNode) => number;
};

/** The most over all the ways that an element is drawn. */
export type Seen = {
  /** Pixels of the grid that one unit of its own coordinates becomes. */
  readonly scale: number;
  /** The longer side of the viewport that its percentages are shares of, in its units. */
  readonly viewport: number;
};

/** The elements come in an order in which each stands after its users. */
export function scalesOf(
  drawing: Drawing,
  inOrder: readonly SvgNode[],
  measures: Measures,
): ReadonlyMap<SvgNode, Seen> {
  return new ScaleReader(drawing, inOrder, measures).scales;
}

type Sides = {
  /** The longer side of the viewport that an element stands in, in the units of what is around it. */
  readonly viewport: number;
  /** The longest side that a `use` gives it, in these units. */
  readonly asked: number;
};

/** Where an element is drawn: the largest of all the ways that it is. */
type Place = Sides & {
  /** Pixels of the grid that a unit of what is around it becomes. */
  readonly scale: number;
};

const nowhere: Place = { scale: 0, viewport: 0, asked: 0 };

class ScaleReader {
  readonly scales = new Map<SvgNode, Seen>();
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

  #scaleWithin(node: SvgNode, { by, target }: Reference, seen: Seen): number {
    const units = BOX_UNITS[by];
    if (units !== undefined && saidBy(this.#drawing, target, units) === 'objectBoundingBox') {
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

  /** The longer one, where the viewport around stands for what is unsaid, but for markers. */
  #ownSide(node: SvgNode, viewport: number): number {
    const around = { font: this.#measures.fontOf(node), percent: viewport / 100 };
    const isMarker = node.name === 'marker';
    const unsaid = isMarker ? MARKER_SIDE : viewport;
    const sides = (isMarker ? MARKER_SIDES : SIDES).map((name) => {
      const text = node.attributes.get(name);
      return plainLength(text, around) ?? Math.max(unsaid, ...lengthsOf(text ?? '', around));
    });
    return Math.max(...sides);
  }

  #boxPixels(node: SvgNode, seen: Seen): number {
    const { spanOf } = this.#measures;
    return Math.min(spanOf(node, seen) ?? product(seen.scale, 2 * this.#reachOf(node)), FARTHEST);
  }

  /** How much larger than an element what is drawn in it is, at most. */
  readonly #stretchesWithin = () => (this.#stretches ??= this.#foldUp(() => 1));

  /** How wide a stroke in an element is in its units, at most. */
  readonly #strokesWithin = () => (this.#strokes ??= this.#foldUp(this.#measures.strokeOf));

  /** The largest of what is said of those in an element that have none in them, as large as they are drawn there. */
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
/** Of one that does not say it, in what its units are told in. */
const MARKER_SIDE = 3;

/** What of those that refer to it is in shares of their boxes. */
const BOX_UNITS: Readonly<Record<string, string>> = {
  'clip-path': 'clipPathUnits',
  mask: 'maskContentUnits',
  fill: 'patternContentUnits',
  stroke: 'patternContentUnits',
};

/** They hold for all that is in an element, as large as it is there. */
const INHERITED = /^(?:fill|stroke|marker)/;

function isInStrokes({ name, attributes }: SvgNode): boolean {
  return name === 'marker' && attributes.get('markerUnits') !== 'userSpaceOnUse';
}

/** The side of a viewBox that comes out as large as what it is fitted into, at most. */
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

/** What is made nothing of is nothing, however large. */
function product(one: number, other: number): number {
  return one * other || 0;
}

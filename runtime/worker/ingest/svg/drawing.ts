/**
 * What an SVG draws by way of what: of each element the ones that are drawn with it, its children and
 * those that it refers to, and how much larger than in the file it can come out on the grid.
 */
import type { AppliedStyles } from './applied-styles.ts';
import { lengthOf } from './lengths.ts';
import { type SvgSize, viewBoxOf } from './raster-grid.ts';
import type { Declaration } from './style.ts';
import { allElements, childElements, type SvgNode } from './svg-node.ts';
import { tooCostly } from './too-costly.ts';

export type Drawing = {
  readonly root: SvgNode;
  readonly grid: SvgSize;
  readonly styles: ReadonlyMap<SvgNode, readonly Declaration[]>;
  readonly references: ReadonlyMap<SvgNode, readonly Reference[]>;
  /** Whether anything may stand other than upright. */
  readonly is_turned: boolean;
};

/** `by` is the property, or `href`. */
export type Reference = { readonly by: string; readonly target: SvgNode };

/** Declarations over all elements that may hold for them and may cost something, and all that they say. */
const APPLIED_DECLARATIONS_MAX = 200_000;
const APPLIED_CHARACTERS_MAX = 20_000_000;

export function readDrawing(root: SvgNode, applied: AppliedStyles, grid: SvgSize): Drawing {
  const nodes = [...allElements(root)];
  const styles = new Map<SvgNode, readonly Declaration[]>();
  let [count, characters] = [0, 0];
  for (const node of nodes) {
    const declarations = applied.of(node);
    count += declarations.length;
    for (const [, { length }] of declarations) characters += length;
    if (count > APPLIED_DECLARATIONS_MAX || characters > APPLIED_CHARACTERS_MAX) {
      throw tooCostly('styles that hold for many elements');
    }
    styles.set(node, declarations);
  }
  const byId = new Map(nodes.flatMap(named));
  const references = nodes.map((node) => {
    const found = findReferences(node, styles.get(node) ?? []);
    return [node, found.flatMap((reference) => resolve(reference, byId))] as const;
  });
  const is_turned = [...styles.values()].some((declarations) => declarations.some(turns));
  return { root, grid, styles, references: new Map(references), is_turned };
}

function turns([property, value]: Declaration): boolean {
  return property === 'transform' && /rotate|skew|matrix/i.test(value);
}

function named(node: SvgNode): [string, SvgNode][] {
  const id = node.attributes.get('id');
  return id === undefined ? [] : [[id, node]];
}

/** Drawn only where something refers to them. */
const KEPT_ASIDE = new Set([
  'defs',
  'symbol',
  'clipPath',
  'mask',
  'pattern',
  'marker',
  'linearGradient',
  'radialGradient',
  'filter',
  'style',
  'title',
  'desc',
]);

export function drawnChildren(node: SvgNode): SvgNode[] {
  return childElements(node).filter(({ name }) => !KEPT_ASIDE.has(name));
}

export function referencesOf({ references }: Drawing, node: SvgNode): readonly Reference[] {
  return references.get(node) ?? [];
}

/** Its children, and all that it refers to. */
export function drawnWith(drawing: Drawing, node: SvgNode): SvgNode[] {
  return [...childElements(node), ...referencesOf(drawing, node).map(({ target }) => target)];
}

type Named = readonly [by: string, id: string];

function findReferences(node: SvgNode, declarations: readonly Declaration[]): Named[] {
  const href = node.attributes.get('href');
  const styled = declarations.flatMap(([by, value]) =>
    [...value.matchAll(/url\(#([^)]+)/g)].map(([, id = '']): Named => [by, id]),
  );
  return href === undefined ? styled : [['href', href.slice(1)], ...styled];
}

function resolve([by, id]: Named, byId: ReadonlyMap<string, SvgNode>): Reference[] {
  const target = byId.get(id);
  return target === undefined ? [] : [{ by, target }];
}

/** References may be followed only so far, as the renderer does it on its stack. */
const REFERENCE_DEPTH_MAX = 300;

/** Every element after all that draw it. Throws IngestRefusal where one draws itself, or too many draw one another. */
export function usersFirst(drawing: Drawing): SvgNode[] {
  const inOrder: SvgNode[] = [];
  // What is drawn below each, one in another; `open` until all of it was looked at.
  const heights = new Map<SvgNode, number | 'open'>();
  const heightOf = (node: SvgNode, depth: number): number => {
    const known = heights.get(node);
    if (known === 'open') throw tooCostly('a reference to itself');
    if (depth + (known ?? 0) > REFERENCE_DEPTH_MAX) throw tooCostly('references of references');
    if (known !== undefined) return known;
    heights.set(node, 'open');
    let height = 0;
    for (const one of drawnWith(drawing, node)) {
      height = Math.max(height, 1 + heightOf(one, depth + 1));
    }
    heights.set(node, height);
    inOrder.push(node);
    return height;
  };
  heightOf(drawing.root, 0);
  return inOrder.reverse();
}

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

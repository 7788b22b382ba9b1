/** How an SVG is drawn: for each element the ones drawn with it, that is its children and those it refers to. */
import type { AppliedStyles } from './applied-styles.ts';
import type { SvgSize } from './raster-grid.ts';
import type { Declaration } from './style.ts';
import { allElements, childElements, type SvgNode } from './svg-node.ts';
import { tooComplex } from './too-complex.ts';

export type Drawing = {
  readonly root: SvgNode;
  readonly grid: SvgSize;
  readonly styles: ReadonlyMap<SvgNode, readonly Declaration[]>;
  /** The declarations among them that may not apply at all. */
  readonly unsure: ReadonlySet<Declaration>;
  /** Of the elements that have any. */
  readonly references: ReadonlyMap<SvgNode, readonly Reference[]>;
  /** The children of elements and everything they refer to, of those that have any. */
  readonly drawn: ReadonlyMap<SvgNode, readonly SvgNode[]>;
  /** Whether anything may be rotated or skewed. */
  readonly is_turned: boolean;
};

/** `by` is the property, or `href`. */
export type Reference = { readonly by: string; readonly target: SvgNode };

/**
 * Limits for the sum, over all elements, of declarations that may apply and cost something, and of
 * their characters.
 */
const APPLIED_DECLARATIONS_MAX = 200_000;
const APPLIED_CHARACTERS_MAX = 20_000_000;

export function readDrawing(root: SvgNode, applied: AppliedStyles, grid: SvgSize): Drawing {
  const nodes = allElements(root);
  const styles = new Map<SvgNode, readonly Declaration[]>();
  const byId = new Map<string, SvgNode>();
  let [count, characters] = [0, 0];
  for (const node of nodes) {
    const declarations = applied.of(node);
    count += declarations.length;
    for (const [, { length }] of declarations) characters += length;
    if (count > APPLIED_DECLARATIONS_MAX || characters > APPLIED_CHARACTERS_MAX) {
      throw tooComplex('styles that hold for many elements');
    }
    styles.set(node, declarations);
    const id = node.attributes.get('id');
    if (id !== undefined) byId.set(id, node);
  }
  const references = new Map<SvgNode, readonly Reference[]>();
  const drawn = new Map<SvgNode, readonly SvgNode[]>();
  for (const [node, declarations] of styles) {
    const found = findReferences(node, declarations, byId);
    if (found.length > 0) references.set(node, found);
    const within = childElements(node).concat(found.map(({ target }) => target));
    if (within.length > 0) drawn.set(node, within);
  }
  const is_turned = [...styles.values()].some((declarations) => declarations.some(turns));
  return { root, grid, styles, unsure: applied.unsure, references, drawn, is_turned };
}

function turns([property, value]: Declaration): boolean {
  return property === 'transform' && /rotate|skew|matrix/i.test(value);
}

/** Elements drawn only when something refers to them. */
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

/** Its children, and everything it refers to. */
export function drawnWith({ drawn }: Drawing, node: SvgNode): readonly SvgNode[] {
  return drawn.get(node) ?? [];
}

/** The attribute of the element itself, or of the template to which its `href` refers. */
export function inheritedAttribute(
  drawing: Drawing,
  pattern: SvgNode,
  name: string,
): string | undefined {
  const own = pattern.attributes.get(name);
  const model = referencesOf(drawing, pattern).find(({ by }) => by === 'href')?.target;
  return own !== undefined || model === undefined ? own : inheritedAttribute(drawing, model, name);
}

function findReferences(
  node: SvgNode,
  declarations: readonly Declaration[],
  byId: ReadonlyMap<string, SvgNode>,
): Reference[] {
  const found: Reference[] = [];
  const add = (by: string, id: string) => {
    const target = byId.get(id);
    if (target !== undefined) found.push({ by, target });
  };
  const href = node.attributes.get('href');
  if (href !== undefined) add('href', href.slice(1));
  for (const [by, value] of declarations) {
    if (!value.includes('url(')) continue;
    for (const [, id = ''] of value.matchAll(/url\(#([^)]+)/g)) add(by, id);
  }
  return found;
}

/** The depth to which references are followed, as the renderer does so on its stack. */
const REFERENCE_DEPTH_MAX = 300;

/**
 * Sorts every element behind all that draw it. Throws IngestRefusal for an element that draws
 * itself, or when the nesting is too deep.
 */
export function sortTopologically(drawing: Drawing): SvgNode[] {
  const inOrder: SvgNode[] = [];
  // The depth of what is drawn below each element; `open` until all of it has been visited.
  const heights = new Map<SvgNode, number | 'open'>();
  const heightOf = (node: SvgNode, depth: number): number => {
    const known = heights.get(node);
    if (known === 'open') throw tooComplex('a reference to itself');
    if (depth + (known ?? 0) > REFERENCE_DEPTH_MAX) throw tooComplex('references of references');
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

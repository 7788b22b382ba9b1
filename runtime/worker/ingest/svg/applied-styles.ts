/**
 * The declarations that may apply to an element, wherever they are written. Only the last part of a selector is
 * examined, and overridden declarations stay: for counting cost, too many are safe and too few are not.
 */
import {
  svgFontProperties,
  svgLayerProperties,
  svgProperties,
} from '../../../core/image/svg-rules.ts';
import { addSteps, noSteps, type SelectorSteps, selectorSteps } from './selector-steps.ts';
import { type Declaration, readDeclarations, type StyleRule } from './style.ts';
import { allElements, type SvgNode } from './svg-node.ts';

export type AppliedStyles = {
  readonly rule_count: number;
  /**
   * How often rules examine the siblings of an element: what they match, or only their position.
   */
  readonly sibling_count: number;
  readonly counting_count: number;
  /**
   * How often rules search for a part of an attribute's value, and in which attributes; the time
   * depends on the length of the value.
   */
  readonly within_count: number;
  readonly looked_within: ReadonlySet<string>;
  /**
   * Declarations of rules that may or may not apply. All others apply, unless another declaration
   * of the same element replaces them.
   */
  readonly unsure: ReadonlySet<Declaration>;
  of(node: SvgNode): readonly Declaration[];
  /** How far all selectors together are followed from the element. */
  stepsFrom(node: SvgNode): SelectorSteps;
};

export function readAppliedStyles(root: SvgNode): AppliedStyles {
  const bySubject = new Map<string, Map<string, Declaration>>();
  const steps = new Map<string, SelectorSteps>();
  let rule_count = 0;
  const count = { sibling: 0, counting: 0, within: 0 };
  const looked_within = new Set<string>();
  const unsure = new Set<Declaration>();
  for (const rule of styleRules(root)) {
    // Copies, because another rule may contain the same declaration and surely apply.
    const declarations = rule.declarations.filter(isCostly).map((one): Declaration => [...one]);
    if (!isSure(rule)) for (const one of declarations) unsure.add(one);
    count.sibling += rule.selector.match(SIBLING)?.length ?? 0;
    count.counting += rule.selector.match(COUNTING)?.length ?? 0;
    for (const [, name = ''] of rule.selector.matchAll(PART_OF_VALUE)) {
      count.within += 1;
      looked_within.add(name);
    }
    for (const one of selectorsOf(rule.selector)) {
      const subject = subjectOf(one);
      rule_count += 1;
      steps.set(subject, addSteps(steps.get(subject) ?? noSteps, selectorSteps(one)));
      const known = bySubject.get(subject) ?? new Map<string, Declaration>();
      keepAll(known, declarations, unsure);
      if (known.size > 0) bySubject.set(subject, known);
    }
  }
  return {
    rule_count,
    sibling_count: count.sibling,
    counting_count: count.counting,
    within_count: count.within,
    looked_within,
    unsure,
    of: (node) => declarationsOf(node, bySubject),
    stepsFrom: (node) =>
      subjectsOf(node).reduce((sum, one) => addSteps(sum, steps.get(one) ?? noSteps), noSteps),
  };
}

/** The number of selectors in all rules: each is tried at every element. */
export function countSubjects(rules: readonly StyleRule[]): number {
  let count = 0;
  for (const { selector } of flatten(rules)) count += selectorsOf(selector).length;
  return count;
}

/** Of equal declarations, one that surely applies is kept. */
function keepAll(
  known: Map<string, Declaration>,
  declarations: readonly Declaration[],
  unsure: ReadonlySet<Declaration>,
): void {
  for (const declaration of declarations) {
    const key = declaration.join(':');
    const before = known.get(key);
    if (before === undefined || unsure.has(before)) known.set(key, declaration);
  }
}

/**
 * Whether a rule applies wherever its subject matches: one selector unknown to the renderer
 * disables the whole rule.
 */
function isSure({ selector, within }: FlatRule): boolean {
  return within === 'sheet' && selectorsOf(selector).every((one) => PLAIN_SELECTOR.test(one));
}

const PLAIN_SELECTOR = /^\s*[.#]?-?[a-z_\u0080-\uffff][\w\u0080-\uffff-]*\s*$/i;
const SIBLING = /~(?!=)/g;
const COUNTING = /:nth-|:only-of|-of-type/gi;
const PART_OF_VALUE = /(?<![\w\u0080-\uffff-])([\w\u0080-\uffff-]+) ?[*~]=/g;

export function* styleRules(root: SvgNode) {
  for (const { rules } of allElements(root)) if (rules !== undefined) yield* flatten(rules);
}

type Within = 'sheet' | 'media';
type FlatRule = StyleRule & { readonly kind: 'style' } & { readonly within: Within };

function* flatten(rules: readonly StyleRule[], within: Within = 'sheet'): Generator<FlatRule> {
  for (const rule of rules) {
    if (rule.kind === 'media') yield* flatten(rule.rules, 'media');
    else yield { ...rule, within };
  }
}

const BRACKET = /[([]/;

/** The selectors of a list; a single one when the commas may belong to a function. */
function selectorsOf(list: string): string[] {
  return BRACKET.test(list) ? [list] : list.split(',');
}

/** The id, class or element of the last part; `*` when it may match several. */
function subjectOf(selector: string): string {
  if (BRACKET.test(selector)) return '*';
  // Any other white space is part of a name.
  const last = selector.split(/[ >+~]+/).findLast((part) => part !== '') ?? '';
  return /[#.][^#.:]+/.exec(last)?.[0] ?? /^[^:*]+/.exec(last)?.[0] ?? '*';
}

/** Every subject by which a selector may match the element. */
function subjectsOf({ name, attributes }: SvgNode): string[] {
  // Split like librsvg, which accepts more kinds of white space than CSS.
  const classes = new Set(attributes.get('class')?.split(/\p{White_Space}+/u));
  return ['*', name, `#${attributes.get('id')}`, ...Array.from(classes, (one) => `.${one}`)];
}

function declarationsOf(
  node: SvgNode,
  bySubject: ReadonlyMap<string, ReadonlyMap<string, Declaration>>,
): Declaration[] {
  const { attributes } = node;
  const found: Declaration[] = [];
  for (const own of attributes) if (svgProperties.has(own[0]) && isCostly(own)) found.push(own);
  const style = attributes.get('style');
  if (style !== undefined) found.push(...readDeclarations(style).filter(isCostly));
  if (bySubject.size === 0) return found;
  for (const subject of subjectsOf(node)) found.push(...(bySubject.get(subject)?.values() ?? []));
  return found;
}

/** Paints and markers cost something only when they contain a reference, strokes always. */
function isCostly([property, value]: Declaration): boolean {
  return (
    svgLayerProperties.has(property) ||
    property === 'transform' ||
    property === 'stroke' ||
    property === 'stroke-width' ||
    svgFontProperties.has(property) ||
    property === 'color-interpolation-filters' ||
    property === 'stroke-dasharray' ||
    property === 'stroke-linecap' ||
    property === 'stroke-linejoin' ||
    property === 'vector-effect' ||
    (/^(?:fill|stroke|marker)/.test(property) && value.includes('url('))
  );
}

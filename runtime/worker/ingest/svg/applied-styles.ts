/**
 * Which declarations may hold for an element, wherever they stand. Of a selector only its last part is
 * looked at, and what a rule overrides stays: for counting cost, too much is safe and too little is not.
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
  /** How often rules look at the siblings of an element: at what they match, and at their place alone. */
  readonly sibling_count: number;
  readonly counting_count: number;
  /** How often, and of which attributes, rules look for a part of a value, which takes as long as the value is. */
  readonly within_count: number;
  readonly looked_within: ReadonlySet<string>;
  /** Of rules that may hold or not: all others do, unless another of the same element takes their place. */
  readonly unsure: ReadonlySet<Declaration>;
  of(node: SvgNode): readonly Declaration[];
  /** How far all selectors together are followed from it. */
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
    // New ones, as another rule may say the same and hold.
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

/** How many elements, classes and ids they speak of: each is looked for at every element. */
export function countSubjects(rules: readonly StyleRule[]): number {
  let count = 0;
  for (const { selector } of flatten(rules)) count += selectorsOf(selector).length;
  return count;
}

/** One of the same words that surely holds stays. */
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

/** It holds wherever its subject is met: one selector that the renderer does not know takes the whole rule along. */
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

/** Each of a list; one where commas may be those of a function. */
function selectorsOf(list: string): string[] {
  return BRACKET.test(list) ? [list] : list.split(',');
}

/** Its id, class or element; `*` where more than one can be meant. */
function subjectOf(selector: string): string {
  if (BRACKET.test(selector)) return '*';
  // Any other space is a letter of a name.
  const last = selector.split(/[ >+~]+/).findLast((part) => part !== '') ?? '';
  return /[#.][^#.:]+/.exec(last)?.[0] ?? /^[^:*]+/.exec(last)?.[0] ?? '*';
}

/** All that a selector may call it by. */
function subjectsOf({ name, attributes }: SvgNode): string[] {
  // As librsvg parts them, which knows more spaces than CSS.
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

/** Paints and markers cost something where they refer to something, strokes wherever they are. */
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

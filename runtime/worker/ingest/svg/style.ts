/**
 * Style sheets, `style` attributes and presentation attributes, read token by token and rewritten from what is allowed:
 * known properties, known functions, references into the same file.
 */
import {
  SVG_REFERENCE,
  svgFunctions,
  svgProperties,
  svgStyleRefusals,
} from '../../../core/image/svg-rules.ts';
import { IngestRefusal } from '../ingest-refusal.ts';
import { type CssToken, printCssTokens, readCssTokens } from './css-tokens.ts';

export type Declaration = readonly [property: string, value: string];

export type StyleRule =
  | {
      readonly kind: 'style';
      readonly selector: string;
      readonly declarations: readonly Declaration[];
    }
  | { readonly kind: 'media'; readonly query: string; readonly rules: readonly StyleRule[] };

const MEDIA_DEPTH_MAX = 4;
const VALUE_CHARACTERS_MAX = 10_000;

export function readStyleSheet(css: string): StyleRule[] {
  const tokens = readCssTokens(css);
  refuseBitmaps(tokens);
  return readRules(tokens, 0);
}

export function printStyleSheet(rules: readonly StyleRule[]): string {
  return rules
    .map((rule) =>
      rule.kind === 'media'
        ? `@media ${rule.query}{${printStyleSheet(rule.rules)}}`
        : `${rule.selector}{${printDeclarations(rule.declarations)}}`,
    )
    .join('');
}

export function readDeclarations(css: string): Declaration[] {
  const tokens = readCssTokens(css);
  refuseBitmaps(tokens);
  return declarationsOf(tokens);
}

export function printDeclarations(declarations: readonly Declaration[]): string {
  return declarations.map(([property, value]) => `${property}:${value}`).join(';');
}

/** A property's value as allowed in a style or an attribute; undefined if it is not allowed. */
export function readValue(css: string): string | undefined {
  if (css.length > VALUE_CHARACTERS_MAX) return undefined;
  const tokens = readCssTokens(css);
  refuseBitmaps(tokens);
  return allowedValue(tokens);
}

/** Whether a text contains something that no style and no attribute may contain. */
export function isRefusedText(text: string): boolean {
  return svgStyleRefusals.some((refusal) => refusal.test(text));
}

/** Spec: Processing error codes, unsupported_media_type (SVG with embedded bitmaps). */
function refuseBitmaps(tokens: readonly CssToken[]): void {
  if (tokens.some(({ kind, text }) => kind === 'url' && isBitmapUrl(text))) {
    throw new IngestRefusal('unsupported_media_type', 'a bitmap in a style');
  }
}

export function isBitmapUrl(url: string): boolean {
  return /^\s*data:\s*image\//i.test(url);
}

function readRules(tokens: readonly CssToken[], depth: number): StyleRule[] {
  const rules: StyleRule[] = [];
  for (let at = 0; at < tokens.length; ) {
    const open = findPreludeEnd(tokens, at);
    const prelude = tokens.slice(at, open);
    if (!isMark(tokens[open], '{')) {
      at = open + 1;
      continue;
    }
    const close = findBlockEnd(tokens, open);
    const rule = readRule(prelude, tokens.slice(open + 1, close), depth);
    if (rule !== undefined) rules.push(rule);
    at = close + 1;
  }
  return rules;
}

/** The position where a rule's block begins, or where an at-rule without a block ends. */
function findPreludeEnd(tokens: readonly CssToken[], begin: number): number {
  let at = begin;
  while (tokens[at]?.kind === 'space') at += 1;
  const isAtRule = tokens[at]?.kind === 'at';
  while (at < tokens.length && !isMark(tokens[at], '{') && !(isAtRule && isMark(tokens[at], ';'))) {
    at += 1;
  }
  return at;
}

function findBlockEnd(tokens: readonly CssToken[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    if (isMark(tokens[at], '{')) depth += 1;
    if (isMark(tokens[at], '}')) depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}

function readRule(
  prelude: readonly CssToken[],
  body: readonly CssToken[],
  depth: number,
): StyleRule | undefined {
  const head = trim(prelude);
  const [first, ...rest] = head;
  if (first === undefined) return undefined;
  if (first.kind !== 'at') return readStyleRule(head, body);
  if (first.text.toLowerCase() !== '@media' || depth >= MEDIA_DEPTH_MAX) return undefined;
  const query = printIfPlain(rest, MEDIA_MARKS);
  const rules = readRules(body, depth + 1);
  return query === undefined || rules.length === 0 ? undefined : { kind: 'media', query, rules };
}

function readStyleRule(
  head: readonly CssToken[],
  body: readonly CssToken[],
): StyleRule | undefined {
  if (body.some((token) => isMark(token, '{')) || ignoresCase(head)) return undefined;
  const selector = printIfPlain(head, SELECTOR_MARKS);
  const declarations = declarationsOf(body);
  if (selector === undefined || declarations.length === 0) return undefined;
  return { kind: 'style', selector, declarations };
}

/**
 * Detects `[class*="a" i]` and the like: librsvg tries the whole search text at each character of
 * the value.
 */
function ignoresCase(head: readonly CssToken[]): boolean {
  const said = head.filter(({ kind }) => kind !== 'space');
  return said.some(({ kind, text }, at) => {
    const isFlag = kind === 'word' && text.toLowerCase() === 'i' && isMark(said[at + 1], ']');
    return isFlag && !isMark(said[at - 1], '[') && !isMark(said[at - 1], '=');
  });
}

const MEDIA_MARKS = ':,()';
const SELECTOR_MARKS = ':,()[].*>+~=|^$-';
const VALUE_MARKS = ',)/!+-*';

function printIfPlain(tokens: readonly CssToken[], marks: string): string | undefined {
  const isPlain = tokens.every(({ kind, text }) => {
    if (kind === 'mark') return marks.includes(text);
    return kind !== 'bad' && kind !== 'url' && kind !== 'at';
  });
  const text = printCssTokens(tokens);
  return isPlain && text !== '' && isBalanced(tokens) && !isRefusedText(text.replaceAll('>', ' '))
    ? text
    : undefined;
}

function declarationsOf(tokens: readonly CssToken[]): Declaration[] {
  return splitAt(tokens, ';').flatMap((declaration) => {
    const [name, colon, ...value] = trim(declaration).filter(
      (token, at) => at > 2 || token.kind !== 'space',
    );
    const property = name?.text.toLowerCase() ?? '';
    if (name?.kind !== 'word' || colon?.text !== ':' || !svgProperties.has(property)) return [];
    const text = allowedValue(value);
    return text === undefined ? [] : [[property, text] as const];
  });
}

function allowedValue(tokens: readonly CssToken[]): string | undefined {
  const isKept = tokens.every(({ kind, text }) => {
    if (kind === 'function') return svgFunctions.has(text.toLowerCase());
    if (kind === 'url') return SVG_REFERENCE.test(text);
    if (kind === 'mark') return VALUE_MARKS.includes(text);
    return kind !== 'bad' && kind !== 'at';
  });
  const text = printCssTokens(tokens);
  return isKept && text !== '' && isBalanced(tokens) && !isRefusedText(text) ? text : undefined;
}

function isBalanced(tokens: readonly CssToken[]): boolean {
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'function' || isMark(token, '(')) depth += 1;
    if (isMark(token, ')')) depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

function splitAt(tokens: readonly CssToken[], mark: string): CssToken[][] {
  const parts: CssToken[][] = [[]];
  for (const token of tokens) {
    if (isMark(token, mark)) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function isMark(token: CssToken | undefined, mark: string): boolean {
  return token?.kind === 'mark' && token.text === mark;
}

function trim(tokens: readonly CssToken[]): readonly CssToken[] {
  const begin = tokens.findIndex(({ kind }) => kind !== 'space');
  const end = tokens.findLastIndex(({ kind }) => kind !== 'space');
  return begin < 0 ? [] : tokens.slice(begin, end + 1);
}

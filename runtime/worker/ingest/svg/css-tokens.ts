/**
 * Splits CSS into tokens, strictly: anything ambiguous (an escape, an open string, a broken url) is a `bad` token, and
 * the caller drops everything around it.
 */
export type CssToken = {
  readonly kind:
    | 'word'
    | 'number'
    | 'hash'
    | 'at'
    | 'function'
    | 'url'
    | 'string'
    | 'mark'
    | 'space'
    | 'bad';
  /** The text to write out; for a function without its parenthesis, for a url its target. */
  readonly text: string;
};

type Rule = readonly [kind: CssToken['kind'] | 'comment', pattern: RegExp];

const NAME = String.raw`-{0,2}[A-Za-z_\u0080-\uffff][\w\u0080-\uffff-]*`;
// A string that contains the beginning of a function or a rule has no legitimate use here; refusing
// it avoids telling them apart.
const STRING = String.raw`"[^"\\\n\r\f()@]*"|'[^'\\\n\r\f()@]*'`;

/** Tried in this order, each at the end of the previous token. */
const rules: readonly Rule[] = [
  ['space', /[ \t\n\r\f]+/y],
  ['comment', /\/\*[\s\S]*?(?:\*\/|$)/y],
  ['url', new RegExp(String.raw`url\(\s*(?:(?:${STRING}|[^\s"'()\\]+)\s*)?\)`, 'iy')],
  ['bad', /url\(/iy],
  ['function', new RegExp(String.raw`${NAME}\(`, 'y')],
  ['number', new RegExp(String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:%|${NAME})?`, 'iy')],
  ['word', new RegExp(NAME, 'y')],
  ['at', new RegExp(`@${NAME}`, 'y')],
  ['hash', /#[\w\u0080-\uffff-]+/y],
  ['string', new RegExp(STRING, 'y')],
  ['mark', /[:;,{}()[\]!*/.>+~=|^$-]/y],
  ['bad', /[\s\S]/y],
];

export function readCssTokens(css: string): CssToken[] {
  const tokens: CssToken[] = [];
  for (let at = 0; at < css.length; ) {
    const [kind, text] = nextToken(css, at);
    at += text.length;
    if (kind !== 'comment') tokens.push({ kind, text: meaning(kind, text) });
    else if (tokens.at(-1)?.kind !== 'space') tokens.push({ kind: 'space', text: ' ' });
  }
  return tokens;
}

/** Prints tokens as text: white space as one space, none at the ends. */
export function printCssTokens(tokens: readonly CssToken[]): string {
  const text = tokens.map(printToken).join('');
  // Any other white space, which trim() would remove, is part of a name.
  return text.replaceAll(/^ | $/g, '');
}

function printToken({ kind, text }: CssToken, at: number, all: readonly CssToken[]): string {
  if (kind === 'space') return all[at - 1]?.kind === 'space' ? '' : ' ';
  if (kind === 'function') return `${text}(`;
  if (kind === 'url') return `url(${text})`;
  return text;
}

/** Characters that begin no other token and are frequent in style sheets. */
const PLAIN_MARKS: ReadonlySet<string> = new Set(':;,{}()[]!*>~=|^$');
/** Letters that begin only a name or a function; `u` may begin `url`. */
const NAME_LETTER = /[a-tv-z]/i;
const NAMED = new RegExp(String.raw`${NAME}\(?`, 'y');

function nextToken(css: string, at: number): [Rule[0], string] {
  const first = css.charAt(at);
  if (PLAIN_MARKS.has(first)) return ['mark', first];
  if (NAME_LETTER.test(first)) return nextName(css, at);
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at;
    const text = pattern.exec(css)?.[0];
    if (text !== undefined) return [kind, text];
  }
  return ['bad', css.charAt(at)];
}

function nextName(css: string, at: number): [Rule[0], string] {
  NAMED.lastIndex = at;
  const text = NAMED.exec(css)?.[0] ?? css.charAt(at);
  return [text.endsWith('(') ? 'function' : 'word', text];
}

function meaning(kind: CssToken['kind'], text: string): string {
  if (kind === 'function') return text.slice(0, -1);
  if (kind === 'url') return unquote(text.slice(text.indexOf('(') + 1, -1).trim());
  // A string that contains a double quote keeps its own quotes: otherwise it would need an escape.
  if (kind === 'string')
    return text.startsWith("'") && text.includes('"') ? text : `"${unquote(text)}"`;
  return text;
}

function unquote(text: string): string {
  return /^["']/.test(text) ? text.slice(1, -1) : text;
}

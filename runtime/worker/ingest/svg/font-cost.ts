/**
 * The cost of setting up a drawing's fonts, measured with librsvg: it keeps some of them, and sets up all others again
 * for each text. Spec: Limits, Uploads (SVG complexity).
 */
import { svgFontProperties } from '../../../core/image/svg-rules.ts';
import { type Drawing, drawnWith } from './drawing.ts';
import { holdsText, type SvgNode, textsOf } from './svg-node.ts';

/** How many fonts stay set up, whatever is drawn in between. */
export const FONTS_KEPT = 120;
/** All but the letters that every packaged font has, in every weight and style. */
const RARE =
  /[^\s!-~\u00a0-\u01a9\u0384-\u038a\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u2010-\u2021\u2026\u2030\u20ac\u2190-\u2199\u2212]+/g;
/** Letters that at least one packaged font has; for others a box with their number is drawn. */
export const DRAWN =
  /[\u0300-\u0340\u064b-\u0655]|[\s!-~\u00a0-\u02e9\u0384-\u038a\u038e-\u03a1\u03a3-\u0482\u048a-\u0525\u0531-\u0556\u0561-\u0587\u05d0-\u05ea\u0621-\u063a\u0640-\u064a\u0679-\u06bf\u06f0-\u06f9\u1e00-\u1ef9\u2010-\u2027\u2190-\u2311\u2500-\u269c\u269e-\u26b8\u2701-\u2704\u270c-\u2727\u2729-\u274b\u2761-\u2794\u2798-\u27af\u27f0-\u28ff]/g;
const BOX = -1;
/** Fallback fonts set up for letters that a font lacks: one per kind of letter, up to this many. */
const BESIDE_MAX = 3;
const FONTS_BYTES = 120_000_000;
const FIRST_TEXT_NS = 5_000_000;

export type FontsCost = {
  /** For the fonts that are kept. */
  readonly ns: number;
  readonly memory_bytes: number;
  /** Whether there are too many to keep, so that each text costs as much as its first time. */
  readonly are_many: boolean;
};

/**
 * `inOrder`: users first. Every declaration on the way to a text counts as a separate font, even if
 * it repeats another.
 */
export function fontsCost(drawing: Drawing, inOrder: readonly SvgNode[]): FontsCost {
  const count = countFonts(drawing, inOrder);
  const are_many = count > FONTS_KEPT;
  return {
    ns: Math.min(count, FONTS_KEPT) * FIRST_TEXT_NS,
    memory_bytes: are_many ? FONTS_BYTES : 0,
    are_many,
  };
}

/** Stops counting once there are more than are kept. */
function countFonts(drawing: Drawing, inOrder: readonly SvgNode[]): number {
  const withText = textHolders(drawing, inOrder);
  const fonts = new Map<string, number>();
  const kinds = new Map<number, Set<number>>();
  const count = () => {
    let sum = fonts.size;
    for (const { size } of kinds.values()) sum += Math.min(size, BESIDE_MAX);
    return sum;
  };
  const inherited = new Map<SvgNode, ReadonlySet<number>>();
  const fontOf = (around: number, declared: string) => {
    const key = `${around} ${declared}`;
    const known = fonts.get(key) ?? fonts.size + 1;
    fonts.set(key, known);
    return known;
  };
  for (const node of inOrder) {
    if (!withText.has(node)) continue;
    const around = inherited.get(node) ?? USUAL_FONT;
    const declared = declaredFont(drawing, node);
    const own =
      declared === '' ? around : new Set(Array.from(around, (one) => fontOf(one, declared)));
    for (const kind of rareKinds(node)) {
      for (const one of own) kinds.set(one, (kinds.get(one) ?? new Set()).add(kind));
    }
    if (count() > FONTS_KEPT) break;
    for (const one of drawnWith(drawing, node)) {
      if (!withText.has(one)) continue;
      const other = inherited.get(one);
      inherited.set(one, other === undefined || other === own ? own : new Set([...other, ...own]));
    }
  }
  return count();
}

export function rareLetters(text: string): string {
  return text.match(RARE)?.join('') ?? '';
}

/** The kinds of rare letters: those in one block of 256 come from one font, or from two. */
function rareKinds(node: SvgNode): ReadonlySet<number> {
  const rare = rareLetters(textsOf(node).join(''));
  return rare === '' ? NO_KINDS : new Set(Array.from(new Set(rare), kindOf));
}

const NO_KINDS: ReadonlySet<number> = new Set();

function kindOf(letter: string): number {
  const isDrawn = letter.replaceAll(DRAWN, '') === '';
  return isDrawn ? Math.floor((letter.codePointAt(0) ?? 0) / 256) : BOX;
}

const USUAL_FONT: ReadonlySet<number> = new Set([0]);

function declaredFont(drawing: Drawing, node: SvgNode): string {
  const declarations = drawing.styles.get(node) ?? [];
  return declarations
    .filter(([property]) => svgFontProperties.has(property))
    .map((declaration) => declaration.join(':'))
    .join(';');
}

/** The elements that draw text, directly or through others. */
function textHolders(drawing: Drawing, inOrder: readonly SvgNode[]): ReadonlySet<SvgNode> {
  const found = new Set<SvgNode>();
  for (const node of inOrder.toReversed()) {
    const isHolder = holdsText(node) || drawnWith(drawing, node).some((one) => found.has(one));
    if (isHolder) found.add(node);
  }
  return found;
}

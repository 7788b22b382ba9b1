/**
 * What drawing text costs, in nanoseconds of one core, measured with librsvg: by its letters, by the rows of
 * the grid that each is high, and many times as much by the width of the line around them.
 * Spec: Limits, Uploads (SVG complexity).
 */
import { type Drawing, drawnWith } from './drawing.ts';
import { COMMON, DRAWN, FONTS_KEPT } from './font-cost.ts';
import { lengthsOf, plainLength } from './lengths.ts';
import { strokePixels } from './pen.ts';
import { rootUnits } from './scales.ts';
import type { ShapeCost, ShapePlace } from './shape-cost.ts';
import type { Declaration } from './style.ts';
import { allElements, type SvgNode } from './svg-node.ts';

/** In units of the element; infinite where the size of letters cannot be told. */
export type LetterSize = { readonly font: number; readonly stroke: number };

const TEXT_NS = 100_000;
const SPACE_NS = 5000;
/** Those that are drawn with the most lines (∰, @): an ordinary one takes a third. */
const LETTER_NS = { fill: 50_000, stroke: 120_000 };
/** The lines of a curve are the shorter, the larger the letter is, up to so many rows. */
const CURVED_ROWS = 100;
const ROW_NS = { curved: 2000, further: 600, stroke: 3000 };
/** Each line of a letter is as thick as the stroke; where it is very thick, they are one. */
const THICK_ROWS = 100;
const THICK_ROW_NS = 16_000;
/** A text is drawn in one piece: all of its letters cross the same rows. */
const PAIR_NS = { fill: 300, fill_row: 2.5, stroke: 300, stroke_row: 5, thick_row: 300 };
const DENSE_LINES = 3;
const OUTLINE_SIDES = 4;
const LETTER_LINES = 20;

export function textCost(
  node: SvgNode,
  { scale, grid, letter, sets_fonts }: ShapePlace,
): ShapeCost {
  const texts = linesOf(node);
  const counts = texts.map((text) => text.replaceAll(/\s/g, '').length);
  const letters = counts.reduce((sum, count) => sum + count, 0);
  const pairs = counts.reduce((sum, count) => sum + count ** 2, 0);
  const spaces = texts.join('').length - letters;
  const font_ns = sets_fonts ? fontsNs(node) : 0;
  const side = Math.max(grid.width, grid.height);
  const height = Math.min(letter.font * scale, side);
  const width = Math.min(strokePixels({ scale, letter }), side);
  return {
    fill_ns:
      TEXT_NS + spaces * SPACE_NS + fillNs(letters, pairs + densePairs(texts), height) + font_ns,
    stroke_ns: strokeNs(letters, pairs, { height, width }),
    area: Math.min(letters * height ** 2, grid.width * grid.height),
    length: letters * OUTLINE_SIDES * height,
    lines: letters * LETTER_LINES,
    span: side,
  };
}

/** Of letters that only some fonts have, each may have as many lines as three others (⣿, ∰). */
function densePairs(texts: readonly string[]): number {
  return texts.reduce((sum, text) => {
    const letters = text.replaceAll(/\s/g, '').length;
    return sum + letters * (DENSE_LINES - 1) * text.replaceAll(COMMON, '').length;
  }, 0);
}

function fillNs(letters: number, pairs: number, height: number): number {
  const curved = Math.min(height, CURVED_ROWS);
  const rows_ns = curved * ROW_NS.curved + (height - curved) * ROW_NS.further;
  return letters * (LETTER_NS.fill + rows_ns) + pairs * (PAIR_NS.fill + height * PAIR_NS.fill_row);
}

function strokeNs(
  letters: number,
  pairs: number,
  { height, width }: { height: number; width: number },
): number {
  const thick = Math.min(width, THICK_ROWS);
  const rows_ns = (height + width) * ROW_NS.stroke + thick * THICK_ROW_NS;
  const pair_ns = PAIR_NS.stroke + height * PAIR_NS.stroke_row + thick * PAIR_NS.thick_row;
  return letters * (LETTER_NS.stroke + rows_ns) + pairs * pair_ns;
}

/** Of a font that has all its letters; otherwise every font is set up in its size. */
const FONT_NS = { all: 5_000_000, one: 1_700_000 };

/** Those of a text of many parts are set up as it is measured, and again as it is drawn. */
function fontsNs(node: SvgNode): number {
  const parts = node.name === 'text' ? allElements(node).slice(1) : [];
  const again = parts.length > FONTS_KEPT ? parts : [];
  return [node, ...again].reduce((sum, one) => sum + fontNs(linesOf(one)), 0);
}

function fontNs(lines: readonly string[]): number {
  const letters = lines.join('').replaceAll(/\s/g, '');
  if (letters === '') return 0;
  return letters.replaceAll(DRAWN, '') === '' ? FONT_NS.one : FONT_NS.all;
}

function linesOf({ children }: SvgNode): string[] {
  return children.filter((child) => typeof child === 'string');
}

export const initialLetter: LetterSize = { font: 16, stroke: 1 };

/** The largest that may hold for each element, over all the ways that it is drawn; users come first. */
export function letterSizesOf(drawing: Drawing, inOrder: readonly SvgNode[]) {
  const inherited = new Map<SvgNode, LetterSize>();
  const sizes = new Map<SvgNode, LetterSize>();
  for (const node of inOrder) {
    const around = inherited.get(node) ?? initialLetter;
    const size = largestOf(drawing, node, around);
    sizes.set(node, size);
    for (const one of drawnWith(drawing, node)) {
      const other = inherited.get(one) ?? size;
      const font = Math.max(other.font, size.font);
      inherited.set(one, { font, stroke: Math.max(other.stroke, size.stroke) });
    }
  }
  return sizes;
}

/** A style that may hold may also not hold; one that surely does leaves nothing of what is around. */
function largestOf(drawing: Drawing, node: SvgNode, around: LetterSize): LetterSize {
  const declarations = drawing.styles.get(node) ?? [];
  const said = (...names: readonly string[]) =>
    declarations.filter(([name]) => names.includes(name));
  const isSure = (one: Declaration) => !drawing.unsure.has(one);
  const share = { font: around.font, percent: around.font / 100 };
  const isSized = said('font-size').some(
    (one) => isSure(one) && plainLength(one[1], share) !== undefined,
  );
  const sizes = said('font-size', 'font').map(([name, value]) =>
    largestLength(name === 'font' ? value.replace(FONT_WEIGHT, '') : value, around.font),
  );
  const font = Math.max(isSized ? 0 : around.font, ...sizes);
  const widths = said('stroke-width');
  const percent = rootUnits(drawing) / 100;
  const strokes = widths.map(([, value]) =>
    strokeLength(value, { font, percent, around: around.stroke }),
  );
  return { font, stroke: Math.max(widths.some(isSure) ? 0 : around.stroke, ...strokes) };
}

/** Only where the size itself still follows. */
const FONT_WEIGHT = /\b\d{3,4}\s+(?=(?:[a-z-]+\s+)*[.\d])/i;
/** Of words the largest, and more than those that go by the font around. */
const LARGEST_WORD = 48;
const LARGER = 1.5;

function largestLength(value: string, font: number): number {
  const text = value.trim().toLowerCase();
  if (/^(?:inherit|initial|unset|revert|smaller)$/.test(text)) return font;
  // What a function says is known when it is drawn.
  if (text.includes('(')) return Number.POSITIVE_INFINITY;
  const lengths = lengthsOf(text, { font, percent: font / 100 });
  if (lengths.length === 0) return Math.max(LARGEST_WORD, font * LARGER);
  return Math.max(...lengths);
}

type StrokeUnits = { readonly font: number; readonly percent: number; readonly around: number };

/** What the renderer does not understand leaves the stroke as wide as that around. */
function strokeLength(value: string, { around, ...units }: StrokeUnits): number {
  const plain = plainLength(value, units);
  if (plain !== undefined) return plain;
  const lengths = lengthsOf(value, units).filter((length) => length < Infinity || isOpen(units));
  return Math.max(...lengths, initialLetter.stroke, around);
}

function isOpen({ font }: { font: number }): boolean {
  return font === Number.POSITIVE_INFINITY;
}

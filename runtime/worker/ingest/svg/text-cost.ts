/**
 * The cost of drawing text, in nanoseconds of one core, measured with librsvg: by its letters, by their height in rows
 * of the grid, and with a much higher weight by the stroke width around them. Spec: Limits, Uploads (SVG complexity).
 */
import { type Drawing, drawnWith } from './drawing.ts';
import { DRAWN, FONTS_KEPT, rareLetters } from './font-cost.ts';
import { lengthsOf, plainLength } from './lengths.ts';
import { strokePixels } from './pen.ts';
import { viewportBounds } from './relative-units.ts';
import type { ShapeCost, ShapePlace } from './shape-cost.ts';
import type { Declaration } from './style.ts';
import { allElements, type SvgNode, textsOf } from './svg-node.ts';

/** In units of the element; infinite when the font size cannot be determined. */
export type LetterSize = { readonly font: number; readonly stroke: number };

const TEXT_NS = 100_000;
const SPACE_NS = 5000;
/** For the letters with the most lines (∰, @): an ordinary one takes a third. */
const LETTER_NS = { fill: 50_000, stroke: 120_000 };
/** The larger a letter, the finer its curves are divided, up to this many rows. */
const CURVED_ROWS = 100;
const ROW_NS = { curved: 2000, further: 600, stroke: 3000 };
/** Each line of a letter is as thick as the stroke; very thick lines merge into one. */
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
  const { letters, spaces, pairs, dense_pairs } = countLetters(node);
  const font_ns = sets_fonts ? fontsNs(node) : 0;
  const side = Math.max(grid.width, grid.height);
  const height = Math.min(letter.font * scale, side);
  const width = Math.min(strokePixels({ scale, letter }), side);
  return {
    fill_ns: TEXT_NS + spaces * SPACE_NS + fillNs(letters, pairs + dense_pairs, height) + font_ns,
    stroke_ns: strokeNs(letters, pairs, { height, width }),
    area: Math.min(letters * height ** 2, grid.width * grid.height),
    length: letters * OUTLINE_SIDES * height,
    lines: letters * LETTER_LINES,
    span: side,
  };
}

/**
 * `dense_pairs`: letters that only some fonts have may each have as many lines as three others (⣿,
 * ∰).
 */
function countLetters(node: SvgNode) {
  const counts = { letters: 0, spaces: 0, pairs: 0, dense_pairs: 0 };
  for (const text of textsOf(node)) {
    const spaces = text.match(/\s/g)?.length ?? 0;
    const letters = text.length - spaces;
    counts.letters += letters;
    counts.spaces += spaces;
    counts.pairs += letters ** 2;
    counts.dense_pairs += letters * (DENSE_LINES - 1) * rareLetters(text).length;
  }
  return counts;
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

/** `one`: for a font that has all letters; `all`: otherwise every font is set up in this size. */
const FONT_NS = { all: 5_000_000, one: 1_700_000 };

/**
 * The fonts of a text with many parts are set up when it is measured, and again when it is drawn.
 */
function fontsNs(node: SvgNode): number {
  const parts = node.name === 'text' ? allElements(node).slice(1) : [];
  const again = parts.length > FONTS_KEPT ? parts : [];
  return [node, ...again].reduce((sum, one) => sum + fontNs(textsOf(one)), 0);
}

function fontNs(texts: readonly string[]): number {
  const letters = texts.join('').replaceAll(/\s/g, '');
  if (letters === '') return 0;
  return letters.replaceAll(DRAWN, '') === '' ? FONT_NS.one : FONT_NS.all;
}

const initialLetter: LetterSize = { font: 16, stroke: 1 };

/**
 * Returns a function that gives the largest sizes that may apply to an element, over all places
 * where it is drawn; `inOrder`: users first.
 */
export function letterSizesOf(drawing: Drawing, inOrder: readonly SvgNode[]) {
  const fonts = inheritLargest(drawing, inOrder, {
    initial: initialLetter.font,
    read: (node, around) => largestFont(drawing, node, around),
  });
  const font = [...fonts.values()].reduce((sum, one) => Math.max(sum, one), 0);
  // A relative width is inherited as such, and resolved by the letters and the viewport of whoever is drawn.
  const units = { font, percent: viewportBounds(drawing).most / 100 };
  const strokes = inheritLargest(drawing, inOrder, {
    initial: initialLetter.stroke,
    read: (node, around) => largestStroke(drawing, node, { ...units, around }),
  });
  return (node: SvgNode): LetterSize => ({
    font: fonts.get(node) ?? initialLetter.font,
    stroke: strokes.get(node) ?? initialLetter.stroke,
  });
}

type Inherited = { initial: number; read(node: SvgNode, around: number): number };

function inheritLargest(
  drawing: Drawing,
  inOrder: readonly SvgNode[],
  { initial, read }: Inherited,
): Map<SvgNode, number> {
  // Until an element's turn, the size that it inherits.
  const sizes = new Map<SvgNode, number>();
  for (const node of inOrder) {
    const size = read(node, sizes.get(node) ?? initial);
    sizes.set(node, size);
    for (const one of drawnWith(drawing, node)) {
      sizes.set(one, Math.max(sizes.get(one) ?? size, size));
    }
  }
  return sizes;
}

/**
 * With a style that may not apply, the inherited size remains possible; one that surely applies
 * replaces it.
 */
function largestFont(drawing: Drawing, node: SvgNode, around: number): number {
  const units = { font: around, percent: around / 100 };
  let [largest, isSized] = [0, false];
  for (const one of saidOf(drawing, node, ['font-size', 'font'])) {
    const [name, value] = one;
    const plain = name === 'font-size' ? plainLength(value, units) : undefined;
    if (plain !== undefined && !drawing.unsure.has(one)) isSized = true;
    const text = name === 'font' ? value.replace(FONT_WEIGHT, '') : value;
    largest = Math.max(largest, plain ?? largestLength(text, units));
  }
  return isSized ? largest : Math.max(largest, around);
}

function largestStroke(drawing: Drawing, node: SvgNode, units: StrokeUnits): number {
  const widths = saidOf(drawing, node, ['stroke-width']);
  const isSaid = widths.some((one) => !drawing.unsure.has(one));
  const strokes = widths.map(([, value]) => strokeLength(value, units));
  return Math.max(isSaid ? 0 : units.around, ...strokes);
}

function saidOf({ styles }: Drawing, node: SvgNode, names: readonly string[]): Declaration[] {
  return (styles.get(node) ?? []).filter(([name]) => names.includes(name));
}

/** A font weight; matched only if the size still follows. */
const FONT_WEIGHT = /\b\d{3,4}\s+(?=(?:[a-z-]+\s+)*[.\d])/i;
/** The largest of the absolute size keywords, and a factor above those of the relative ones. */
const LARGEST_WORD = 48;
const LARGER = 1.5;

function largestLength(value: string, units: FontUnits): number {
  const text = value.trim().toLowerCase();
  if (/^(?:inherit|initial|unset|revert|smaller)$/.test(text)) return units.font;
  // The value of a function is known only when it is drawn.
  if (text.includes('(')) return Number.POSITIVE_INFINITY;
  const lengths = lengthsOf(text, units);
  if (lengths.length === 0) return Math.max(LARGEST_WORD, units.font * LARGER);
  return Math.max(...lengths);
}

type FontUnits = { readonly font: number; readonly percent: number };
type StrokeUnits = FontUnits & { readonly around: number };

/** A value that the renderer does not understand keeps the inherited stroke width. */
function strokeLength(value: string, { around, ...units }: StrokeUnits): number {
  const plain = plainLength(value, units);
  if (plain !== undefined) return plain;
  const isOpen = units.font === Infinity;
  const lengths = lengthsOf(value, units).filter((length) => length < Infinity || isOpen);
  return Math.max(...lengths, initialLetter.stroke, around);
}

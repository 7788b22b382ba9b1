/**
 * The cost of drawing text, in nanoseconds of one core, measured with librsvg: by its letters, by their height in rows
 * of the grid, and with a much higher weight by the stroke width around them. Spec: Limits, Uploads (SVG complexity).
 */
import { type Drawing, drawnWith } from './drawing.ts';
import { COMMON, DRAWN, FONTS_KEPT } from './font-cost.ts';
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
  const texts = textsOf(node);
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

/** Letters that only some fonts have may each have as many lines as three others (⣿, ∰). */
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

export const initialLetter: LetterSize = { font: 16, stroke: 1 };

/**
 * The largest sizes that may apply to each element, over all places where it is drawn; `inOrder`:
 * users first.
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
  const sizes = new Map<SvgNode, LetterSize>();
  for (const [node, own] of fonts) {
    sizes.set(node, { font: own, stroke: strokes.get(node) ?? initialLetter.stroke });
  }
  return sizes;
}

type Inherited = { initial: number; read(node: SvgNode, around: number): number };

function inheritLargest(
  drawing: Drawing,
  inOrder: readonly SvgNode[],
  { initial, read }: Inherited,
): Map<SvgNode, number> {
  const inherited = new Map<SvgNode, number>();
  const sizes = new Map<SvgNode, number>();
  for (const node of inOrder) {
    const size = read(node, inherited.get(node) ?? initial);
    sizes.set(node, size);
    for (const one of drawnWith(drawing, node)) {
      inherited.set(one, Math.max(inherited.get(one) ?? size, size));
    }
  }
  return sizes;
}

/**
 * With a style that may not apply, the inherited size remains possible; one that surely applies
 * replaces it.
 */
function largestFont(drawing: Drawing, node: SvgNode, around: number): number {
  const share = { font: around, percent: around / 100 };
  const isSized = saidOf(drawing, node, ['font-size']).some(
    (one) => !drawing.unsure.has(one) && plainLength(one[1], share) !== undefined,
  );
  const sizes = saidOf(drawing, node, ['font-size', 'font']).map(([name, value]) =>
    largestLength(name === 'font' ? value.replace(FONT_WEIGHT, '') : value, around),
  );
  return Math.max(isSized ? 0 : around, ...sizes);
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

function largestLength(value: string, font: number): number {
  const text = value.trim().toLowerCase();
  if (/^(?:inherit|initial|unset|revert|smaller)$/.test(text)) return font;
  // The value of a function is known only when it is drawn.
  if (text.includes('(')) return Number.POSITIVE_INFINITY;
  const lengths = lengthsOf(text, { font, percent: font / 100 });
  if (lengths.length === 0) return Math.max(LARGEST_WORD, font * LARGER);
  return Math.max(...lengths);
}

type StrokeUnits = { readonly font: number; readonly percent: number; readonly around: number };

/** A value that the renderer does not understand keeps the inherited stroke width. */
function strokeLength(value: string, { around, ...units }: StrokeUnits): number {
  const plain = plainLength(value, units);
  if (plain !== undefined) return plain;
  const isOpen = units.font === Infinity;
  const lengths = lengthsOf(value, units).filter((length) => length < Infinity || isOpen);
  return Math.max(...lengths, initialLetter.stroke, around);
}

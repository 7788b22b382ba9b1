/**
 * What setting up fonts costs a drawing, measured with librsvg: it keeps some of them, and sets up every other one
 * anew for each text. Spec: Limits, Uploads (SVG complexity).
 */
import { svgFontProperties } from '../../../core/image/svg-rules.ts';
import { type Drawing, drawnWith } from './drawing.ts';
import type { SvgNode } from './svg-node.ts';

/** So many stay set up, whatever is drawn between. */
export const FONTS_KEPT = 120;
const FONTS_BYTES = 120_000_000;
const FIRST_TEXT_NS = 5_000_000;

export type FontsCost = {
  /** For what is kept. */
  readonly ns: number;
  readonly memory_bytes: number;
  /** Whether each text costs as much as its first time. */
  readonly are_many: boolean;
};

/** Users come first. What is declared on the way to a text is a font of its own, even where it says the same. */
export function fontsCost(drawing: Drawing, inOrder: readonly SvgNode[]): FontsCost {
  const count = countFonts(drawing, inOrder);
  const are_many = count > FONTS_KEPT;
  return {
    ns: Math.min(count, FONTS_KEPT) * FIRST_TEXT_NS,
    memory_bytes: are_many ? FONTS_BYTES : 0,
    are_many,
  };
}

/** Not further than to more than are kept. */
function countFonts(drawing: Drawing, inOrder: readonly SvgNode[]): number {
  const withText = textHolders(drawing, inOrder);
  const fonts = new Map<string, number>();
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
    if (fonts.size > FONTS_KEPT) break;
    for (const one of drawnWith(drawing, node)) {
      if (!withText.has(one)) continue;
      const other = inherited.get(one);
      inherited.set(one, other === undefined || other === own ? own : new Set([...other, ...own]));
    }
  }
  return fonts.size;
}

const USUAL_FONT: ReadonlySet<number> = new Set([0]);

function declaredFont(drawing: Drawing, node: SvgNode): string {
  const declarations = drawing.styles.get(node) ?? [];
  return declarations
    .filter(([property]) => svgFontProperties.has(property))
    .map((declaration) => declaration.join(':'))
    .join(';');
}

/** What draws any text, itself or by way of another. */
function textHolders(drawing: Drawing, inOrder: readonly SvgNode[]): ReadonlySet<SvgNode> {
  const found = new Set<SvgNode>();
  for (const node of inOrder.toReversed()) {
    const isHolder =
      node.children.some((child) => typeof child === 'string' && /\S/.test(child)) ||
      drawnWith(drawing, node).some((one) => found.has(one));
    if (isHolder) found.add(node);
  }
  return found;
}

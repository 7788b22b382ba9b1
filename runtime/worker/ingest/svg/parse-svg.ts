/**
 * Parses an SVG strictly and in one pass, into a tree that holds only what is allowed. Anything unlisted is dropped
 * with all its contents. Spec: Limits, Uploads (SVG complexity); Processing error codes.
 */
import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { textEncoding } from '../../../core/image/signatures.ts';
import {
  SVG_NAMESPACE,
  svgCaps,
  svgElements,
  svgTextElements,
} from '../../../core/image/svg-rules.ts';
import { IngestRefusal } from '../ingest-refusal.ts';
import { countSubjects } from './applied-styles.ts';
import { readAttributes, refuseBitmap } from './attributes.ts';
import { printStyleSheet, readStyleSheet, type StyleRule } from './style.ts';
import { matchesCost, weightOf } from './style-cost.ts';
import { type SvgNode, textsOf } from './svg-node.ts';
import { tooComplex } from './too-complex.ts';

/** Throws IngestRefusal. */
export function parseSvg(bytes: Uint8Array): SvgNode {
  if (bytes.length > svgCaps.bytes) throw tooComplex(`${bytes.length} bytes`);
  const reader = new TreeReader();
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw new IngestRefusal('decode_failed', error.message);
  });
  parser.on('doctype', () => {
    throw new IngestRefusal('unsupported_media_type', 'a DOCTYPE');
  });
  parser.on('opentag', (tag) => reader.open(tag));
  parser.on('closetag', () => reader.close());
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.write(decode(bytes)).close();
  return reader.root();
}

/**
 * Encodings in which ASCII has only one reading; everything else is read as UTF-8 or UTF-16,
 * strictly.
 */
const LATIN = /^<\?xml[^>]*?encoding\s*=\s*["'](?:iso-8859-1|windows-1252)["']/i;
const DECLARATION_BYTES_MAX = 200;

function decode(bytes: Uint8Array): string {
  const begin = Buffer.from(bytes.subarray(0, DECLARATION_BYTES_MAX)).toString('latin1');
  const label = LATIN.test(begin) ? 'windows-1252' : textEncoding(bytes);
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    throw new IngestRefusal('decode_failed', `not ${label}`);
  }
}

const COUNTED = {
  elements: svgCaps.elements,
  text: svgCaps.text_bytes,
  style: svgCaps.style_bytes,
};

/** Builds the tree while the parser goes through the text. */
class TreeReader {
  #root: SvgNode | undefined;
  /** Undefined for a dropped element and everything in it. */
  readonly #stack: (SvgNode | undefined)[] = [];
  readonly #ids = new Set<string>();
  readonly #counts = { elements: 0, text: 0, style: 0 };
  readonly #kept = { elements: 0, weight: 0, subjects: 0 };

  root(): SvgNode {
    if (this.#root === undefined) throw new IngestRefusal('decode_failed', 'no <svg> root');
    return this.#root;
  }

  open(tag: SaxesTagNS): void {
    this.#count('elements', 1);
    if (this.#stack.length >= svgCaps.depth) throw tooComplex(`deeper than ${svgCaps.depth}`);
    const found = Object.values(tag.attributes);
    if (tag.uri === SVG_NAMESPACE) refuseBitmap(tag.local, found);
    this.#stack.push(this.#read(tag, found));
  }

  text(text: string): void {
    const parent = this.#stack.at(-1);
    if (parent === undefined || !svgTextElements.has(parent.name)) return;
    this.#count(parent.name === 'style' ? 'style' : 'text', Buffer.byteLength(text));
    const last = parent.children.at(-1);
    if (typeof last === 'string') parent.children[parent.children.length - 1] = last + text;
    else parent.children.push(text);
  }

  close(): void {
    const node = this.#stack.pop();
    if (node === undefined) return;
    if (node.name === 'style') {
      this.#kept.subjects += countSubjects(rewriteStyle(node));
      this.#checkMatches();
    }
    this.#stack.at(-1)?.children.push(node);
  }

  #read(tag: SaxesTagNS, found: SaxesAttributeNS[]): SvgNode | undefined {
    const isRoot = this.#stack.length === 0;
    const name = this.#nameOf(tag);
    if (isRoot && name !== 'svg') throw new IngestRefusal('decode_failed', 'no <svg> root');
    if (name === undefined || (!isRoot && this.#stack.at(-1) === undefined)) return undefined;
    if (name === 'style' && !isStyleSheet(found)) return undefined;
    const style = tag.attributes.style?.value ?? '';
    this.#count('style', Buffer.byteLength(style));
    const attributes = readAttributes(name, found);
    this.#claimId(attributes);
    this.#countElement(attributes);
    if (isRoot) return this.#plant(name, attributes);
    return { name, attributes, children: [] };
  }

  #plant(name: string, attributes: Map<string, string>): SvgNode {
    this.#root = {
      name,
      attributes: new Map([['xmlns', SVG_NAMESPACE], ...attributes]),
      children: [],
    };
    return this.#root;
  }

  /** A link is drawn like its contents. */
  #nameOf({ uri, local }: SaxesTagNS): string | undefined {
    if (uri !== SVG_NAMESPACE) return undefined;
    if (svgElements.has(local)) return local;
    if (local !== 'a') return undefined;
    return svgTextElements.has(this.#stack.at(-1)?.name ?? '') ? 'tspan' : 'g';
  }

  /**
   * Only the first element keeps a repeated id: references always mean it, and a second one would
   * be ambiguous.
   */
  #claimId(attributes: Map<string, string>): void {
    const id = attributes.get('id');
    if (id === undefined) return;
    if (this.#ids.has(id)) attributes.delete('id');
    this.#ids.add(id);
  }

  #countElement(attributes: Map<string, string>): void {
    this.#kept.elements += 1;
    this.#kept.weight += weightOf({ attributes });
    this.#checkMatches();
  }

  /** Checked as soon as there are too many, not after the whole tree. */
  #checkMatches(): void {
    const { elements, weight, subjects } = this.#kept;
    const matches = elements * subjects;
    if (matches > svgCaps.style_matches) throw tooComplex(`${matches} style_matches`);
    const ns = matchesCost(subjects, weight);
    if (ns > svgCaps.drawing_ns) throw tooComplex(`${ns} drawing_ns`);
  }

  #count(what: keyof typeof COUNTED, more: number): void {
    this.#counts[what] += more;
    if (this.#counts[what] > COUNTED[what])
      throw tooComplex(`more than ${COUNTED[what]} of ${what}`);
  }
}

function isStyleSheet(found: readonly SaxesAttributeNS[]): boolean {
  const type = found.find(({ uri, local }) => uri === '' && local === 'type')?.value.trim() ?? '';
  return type === '' || type.toLowerCase() === 'text/css';
}

function rewriteStyle(node: SvgNode): StyleRule[] {
  const css = textsOf(node).join('');
  const rules = readStyleSheet(css);
  const sheet = printStyleSheet(rules);
  node.rules = rules;
  node.children.splice(0, node.children.length, ...(sheet === '' ? [] : [sheet]));
  return rules;
}

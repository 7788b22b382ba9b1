/**
 * An XMP packet parsed strictly and in one pass, within bounds: elements and attributes of known namespaces, text, and
 * nothing else. Undefined when it is not XMP, or has a DOCTYPE.
 */
import { SaxesParser, type SaxesTagNS } from 'saxes';

export type XmpName = { space: string; local: string };
export type XmpNode = XmpName & {
  attributes: readonly (XmpName & { value: string })[];
  children: (XmpNode | string)[];
};

export const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const XML = 'http://www.w3.org/XML/1998/namespace';
/** By the prefix with which each is written. */
export const xmpSpaces = {
  x: 'adobe:ns:meta/',
  rdf: RDF,
  xml: XML,
  dc: 'http://purl.org/dc/elements/1.1/',
  xmp: 'http://ns.adobe.com/xap/1.0/',
  xmpRights: 'http://ns.adobe.com/xap/1.0/rights/',
  photoshop: 'http://ns.adobe.com/photoshop/1.0/',
  tiff: 'http://ns.adobe.com/tiff/1.0/',
  exif: 'http://ns.adobe.com/exif/1.0/',
  exifEX: 'http://cipa.jp/exif/1.0/',
  aux: 'http://ns.adobe.com/exif/1.0/aux/',
  Iptc4xmpCore: 'http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/',
  Iptc4xmpExt: 'http://iptc.org/std/Iptc4xmpExt/2008-02-29/',
  plus: 'http://ns.useplus.org/ldf/xmp/1.0/',
  GPano: 'http://ns.google.com/photos/1.0/panorama/',
} as const;

const KNOWN: ReadonlySet<string> = new Set(Object.values(xmpSpaces));
const DEPTH_MAX = 16;
const NODES_MAX = 5_000;
const TEXT_MAX = 16_384;

class NoXmp extends Error {}

export function parseXmp(packet: Buffer): XmpNode | undefined {
  try {
    return new TreeReader().read(new TextDecoder('utf-8', { fatal: true }).decode(packet));
  } catch (error) {
    if (error instanceof NoXmp || error instanceof TypeError) return undefined;
    throw error;
  }
}

export function elementsOf({ children }: Pick<XmpNode, 'children'>): XmpNode[] {
  return children.filter((child) => typeof child !== 'string');
}

/** The element that holds the descriptions; it may be the root. */
export function findRdf(root: XmpNode): XmpNode | undefined {
  return [root, ...elementsOf(root)].find(({ space, local }) => space === RDF && local === 'RDF');
}

class TreeReader {
  #root: XmpNode | undefined;
  /** Undefined for a dropped element and everything in it. */
  readonly #stack: (XmpNode | undefined)[] = [];
  #nodes = 0;

  read(text: string): XmpNode | undefined {
    const parser = new SaxesParser({ xmlns: true });
    const refuse = () => {
      throw new NoXmp();
    };
    parser.on('error', refuse);
    parser.on('doctype', refuse);
    parser.on('opentag', (tag) => this.#open(tag));
    parser.on('closetag', () => void this.#stack.pop());
    parser.on('text', (found) => this.#text(found));
    parser.on('cdata', (found) => this.#text(found));
    parser.write(withoutPadding(text)).close();
    return this.#root;
  }

  #open(tag: SaxesTagNS): void {
    this.#nodes += 1;
    if (this.#stack.length >= DEPTH_MAX || this.#nodes > NODES_MAX) throw new NoXmp();
    const parent = this.#stack.at(-1);
    const isRoot = this.#stack.length === 0;
    const isKept = KNOWN.has(tag.uri) && (isRoot || parent !== undefined);
    const node = isKept ? nodeOf(tag) : undefined;
    if (isRoot) this.#root = node;
    else if (node !== undefined) parent?.children.push(node);
    this.#stack.push(node);
  }

  #text(text: string): void {
    if (text.length <= TEXT_MAX) this.#stack.at(-1)?.children.push(text);
  }
}

function nodeOf({ uri: space, local, attributes }: SaxesTagNS): XmpNode {
  const kept = Object.values(attributes)
    .filter(({ uri, value }) => KNOWN.has(uri) && value.length <= TEXT_MAX)
    .map(({ uri, local: name, value }) => ({ space: uri, local: name, value }));
  return { space, local, attributes: kept, children: [] };
}

/**
 * Packets end in padding with arbitrary white space. A loop, because a pattern would search for the
 * end again from each byte.
 */
function withoutPadding(text: string): string {
  let end = text.length;
  while (end > 0 && /[\0\s]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).trimStart();
}

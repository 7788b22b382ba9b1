// Reads a file's first bytes: magic numbers, ISO media brands, and the root element of an XML text. Used by the table
// of formats, and to decode XML texts. Spec: Processing error codes, unsupported_media_type (HEIC, compressed SVG).

/** Whether the bytes at `offset` are exactly these (a text stands for its ASCII codes). */
export function startsWith(
  head: Uint8Array,
  magic: string | readonly number[],
  offset = 0,
): boolean {
  const bytes =
    typeof magic === 'string' ? [...magic].map((letter) => letter.charCodeAt(0)) : magic;
  return bytes.every((byte, at) => head[offset + at] === byte);
}

const AVIF_BRANDS = ['avif', 'avis'];
const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'];

/**
 * An AV1 still or sequence, indicated by the major brand or, below a general one, by a compatible
 * brand.
 */
export function isAvif(head: Uint8Array): boolean {
  return hasBrand(head, AVIF_BRANDS) && !HEIC_BRANDS.includes(brands(head)[0] ?? '');
}

/** An HEVC still or sequence, which phones call HEIC. */
export function isHeic(head: Uint8Array): boolean {
  return hasBrand(head, HEIC_BRANDS);
}

function hasBrand(head: Uint8Array, wanted: readonly string[]): boolean {
  return brands(head).some((brand) => wanted.includes(brand));
}

// The box: size (4), "ftyp" (4), major brand (4), minor version (4), compatible brands (4 each).
function brands(head: Uint8Array): string[] {
  if (head.length < 16 || !startsWith(head, 'ftyp', 4)) return [];
  const size = Math.min(new DataView(head.buffer, head.byteOffset).getUint32(0), head.length);
  const found = [text(head.subarray(8, 12))];
  for (let at = 16; at + 4 <= size; at += 4) found.push(text(head.subarray(at, at + 4)));
  return found;
}

/**
 * The encoding of an XML text: by its byte order mark, or by its first two characters, as browsers
 * detect it.
 */
export function textEncoding(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (startsWith(head, [0xff, 0xfe]) || startsWith(head, '<\0?\0')) return 'utf-16le';
  if (startsWith(head, [0xfe, 0xff]) || startsWith(head, '\0<\0?')) return 'utf-16be';
  return 'utf-8';
}

/** An XML text in UTF-8 or UTF-16 whose root element is `svg`, under any prefix. */
export function isSvg(head: Uint8Array): boolean {
  const root = skipProlog(new TextDecoder(textEncoding(head)).decode(head));
  return /^<(?:[A-Za-z_][\w.-]*:)?svg[\s/>]/.test(root);
}

// Each round drops one construct that may precede the root; an unclosed one leaves nothing.
function skipProlog(document: string): string {
  let rest = document.trimStart();
  for (let end = prologEnd(rest); end !== undefined; end = prologEnd(rest)) {
    rest = end < 0 ? '' : rest.slice(end).trimStart();
  }
  return rest;
}

function prologEnd(rest: string): number | undefined {
  if (rest.startsWith('<!--')) return after(rest, '-->');
  if (rest.startsWith('<?')) return after(rest, '?>');
  if (!/^<!doctype/i.test(rest)) return undefined;
  const end = after(rest, '>');
  return rest.slice(0, end).includes('[') ? after(rest, ']>') : end;
}

function after(rest: string, closing: string): number {
  const at = rest.indexOf(closing);
  return at < 0 ? -1 : at + closing.length;
}

function text(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

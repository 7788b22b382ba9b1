/** Which attributes of an element are kept, and with what value. Spec: Limits, Uploads (SVG complexity). */
import type { SaxesAttributeNS } from 'saxes';
import {
  SVG_REFERENCE,
  svgAttributes,
  svgBitmapElements,
  svgProperties,
  svgReferringElements,
  XLINK_NAMESPACE,
} from '../../../core/image/svg-rules.ts';
import { IngestRefusal } from '../ingest-refusal.ts';
import {
  isBitmapUrl,
  isRefusedText,
  printDeclarations,
  readDeclarations,
  readValue,
} from './style.ts';

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';

type Found = readonly SaxesAttributeNS[];

/** Throws IngestRefusal when the element is an embedded bitmap. */
export function readAttributes(element: string, found: Found): Map<string, string> {
  const kept = new Map<string, string>();
  for (const attribute of found) {
    const value = readAttribute(attribute);
    if (value !== undefined) kept.set(nameOf(attribute), value);
  }
  const href = readReference(element, found);
  if (href !== undefined) kept.set('href', href);
  return kept;
}

/** Spec: Processing error codes, unsupported_media_type (SVG with embedded bitmaps). */
export function refuseBitmap(element: string, found: Found): void {
  if (!svgBitmapElements.has(element)) return;
  const isBitmap = found.some(({ local, value }) => local === 'href' && /^\s*data:/i.test(value));
  if (isBitmap) throw new IngestRefusal('unsupported_media_type', `a bitmap in <${element}>`);
}

function nameOf({ uri, local }: SaxesAttributeNS): string {
  return uri === XML_NAMESPACE ? `xml:${local}` : local;
}

function readAttribute({ uri, local, value }: SaxesAttributeNS): string | undefined {
  if (uri === XML_NAMESPACE) return readXmlAttribute(local, value);
  if (uri !== '') return undefined;
  if (local === 'style') return printDeclarations(readDeclarations(value)) || undefined;
  if (local === 'transform') return isRefusedText(value) ? undefined : value;
  if (svgProperties.has(local)) return readValue(value);
  return svgAttributes.has(local) && !isRefusedText(value) ? value : undefined;
}

/** `xml:space` decides whether white space is drawn. */
function readXmlAttribute(local: string, value: string): string | undefined {
  return local === 'space' && /^(?:default|preserve)$/.test(value) ? value : undefined;
}

/** `href` without a namespace takes precedence over the old one, as in the renderer. */
function readReference(element: string, found: Found): string | undefined {
  const href =
    found.find(({ uri, local }) => uri === '' && local === 'href') ??
    found.find(({ uri, local }) => uri === XLINK_NAMESPACE && local === 'href');
  const target = href?.value.trim() ?? '';
  if (isBitmapUrl(target)) throw new IngestRefusal('unsupported_media_type', 'a bitmap in a link');
  return svgReferringElements.has(element) && SVG_REFERENCE.test(target) ? target : undefined;
}

/**
 * Rebuilds XMP for a later raw download from what was read: facts about the picture, its rights and its place, upright
 * and with its present size. Thumbnails, edit histories and program settings are dropped.
 */
import { escapeXmlAttribute, escapeXmlText } from '../escape-xml.ts';
import {
  elementsOf,
  findRdf,
  parseXmp,
  type XmpName,
  type XmpNode,
  xmpSpaces,
} from './xmp-tree.ts';

/** The limit of one JPEG segment, including the name. */
const PACKET_BYTES_MAX = 65_000;

/** Properties that no longer apply: the layout of the old file, and embedded images. */
const DROPPED: ReadonlySet<string> = new Set([
  `${xmpSpaces.tiff} ImageWidth`,
  `${xmpSpaces.tiff} ImageLength`,
  `${xmpSpaces.exif} PixelXDimension`,
  `${xmpSpaces.exif} PixelYDimension`,
  `${xmpSpaces.exif} MakerNote`,
  `${xmpSpaces.xmp} Thumbnails`,
]);
const ORIENTATION = `${xmpSpaces.tiff} Orientation`;
const UPRIGHT = '1';

/** Undefined when nothing is left. */
export function rebuildXmp(packet: Buffer): Buffer | undefined {
  const root = parseXmp(packet);
  const rdf = root && findRdf(root);
  if (rdf === undefined || elementsOf(rdf).length === 0) return undefined;
  const declared = Object.entries(xmpSpaces)
    .filter(([prefix]) => prefix !== 'xml')
    .map(([prefix, space]) => ` xmlns:${prefix}="${space}"`);
  const bytes = Buffer.from(
    `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta${declared.join('')}>${print(rdf)}</x:xmpmeta><?xpacket end="r"?>`,
  );
  return bytes.length <= PACKET_BYTES_MAX ? bytes : undefined;
}

const prefixes = new Map<string, string>(
  Object.entries(xmpSpaces).map(([prefix, space]) => [space, prefix]),
);

function nameOf({ space, local }: XmpName): string {
  return `${prefixes.get(space)}:${local}`;
}

function idOf({ space, local }: XmpName): string {
  return `${space} ${local}`;
}

function print(node: XmpNode): string {
  const isOrientation = idOf(node) === ORIENTATION;
  const attributes = node.attributes
    .filter((attribute) => !DROPPED.has(idOf(attribute)))
    .map((attribute) => {
      const value = idOf(attribute) === ORIENTATION ? UPRIGHT : attribute.value;
      return ` ${nameOf(attribute)}="${escapeXmlAttribute(value)}"`;
    });
  const children = node.children.map((child) => {
    if (typeof child === 'string') return isOrientation ? UPRIGHT : escapeXmlText(child);
    return DROPPED.has(idOf(child)) ? '' : print(child);
  });
  const name = nameOf(node);
  return `<${name}${attributes.join('')}>${children.join('')}</${name}>`;
}

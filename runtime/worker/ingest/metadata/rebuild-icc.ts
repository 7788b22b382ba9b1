/**
 * Rebuilds a color profile for a later raw download: its header, and the tags that describe colors or name the
 * profile. Private tags, and anything between the tags, are dropped.
 */
import { SAVED_METADATA_BYTES_MAX } from '../../../core/limits.ts';
import {
  ICC_HEADER_BYTES,
  ICC_TAG_BYTES,
  type IccTags,
  readIccHead,
  readIccTags,
} from './icc-tags.ts';

const KNOWN_TAGS: ReadonlySet<string> = new Set(
  [
    'desc cprt wtpt bkpt chad lumi cicp tech gamt',
    'rXYZ gXYZ bXYZ rTRC gTRC bTRC kTRC',
    'A2B0 A2B1 A2B2 B2A0 B2A1 B2A2 D2B0 D2B1 D2B2 D2B3 B2D0 B2D1 B2D2 B2D3',
  ].flatMap((names) => names.split(' ')),
);
const CLASSES: ReadonlySet<string> = new Set(['mntr', 'scnr', 'prtr', 'spac']);
const CONNECTION_SPACES: ReadonlySet<string> = new Set(['XYZ ', 'Lab ']);
/** The header fields for the profile's length, and for an id that no longer matches. */
const LENGTH_AT = 0;
const ID_AT = 84;

/**
 * Undefined when the profile describes no image, or is too long to keep: tags in the original may
 * overlap.
 */
export function rebuildIcc(profile: Buffer): Buffer | undefined {
  const head = readIccHead(profile);
  if (head === undefined) return undefined;
  if (!CLASSES.has(head.class) || !CONNECTION_SPACES.has(head.connection_space)) return undefined;
  const tags = new Map([...readIccTags(profile)].filter(([name]) => KNOWN_TAGS.has(name)));
  return tags.size === 0 ? undefined : print(profile.subarray(0, ICC_HEADER_BYTES), tags);
}

function print(oldHeader: Buffer, tags: IccTags): Buffer | undefined {
  const table = Buffer.alloc(4 + tags.size * ICC_TAG_BYTES);
  table.writeUInt32BE(tags.size, 0);
  const bodies: Buffer[] = [];
  const places = new Map<string, number>();
  let free = ICC_HEADER_BYTES + table.length;
  for (const [index, [name, bytes]] of [...tags].entries()) {
    // The curves of three channels are often identical and share one place.
    const content = bytes.toString('latin1');
    const start = places.get(content) ?? free;
    if (start === free) {
      places.set(content, free);
      bodies.push(padded(bytes));
      free += padded(bytes).length;
    }
    if (free > SAVED_METADATA_BYTES_MAX) return undefined;
    const at = 4 + index * ICC_TAG_BYTES;
    table.write(name, at, 'latin1');
    table.writeUInt32BE(start, at + 4);
    table.writeUInt32BE(bytes.length, at + 8);
  }
  const header = Buffer.from(oldHeader);
  header.writeUInt32BE(free, LENGTH_AT);
  header.fill(0, ID_AT, ICC_HEADER_BYTES);
  return Buffer.concat([header, table, ...bodies]);
}

/** Pads a tag so that the next one begins at a multiple of four. */
function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

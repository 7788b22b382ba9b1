/**
 * Photographs with the metadata of real cameras and editors, downloaded by the test setup: complete files, and the EXIF
 * segments of some fifty cameras whose pixels were removed, each inserted into a generated image.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Photograph = { name: string; bytes: Buffer; content_type: string };

const FOLDER = fileURLToPath(new URL('../../.tools/photographs', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.tif': 'image/tiff',
};
/** Files with a wrong extension, or damaged on purpose. */
const NONE: ReadonlySet<string> = new Set([
  'largeexif.png',
  'corrupt/huge_tag_exif.jpg',
  'corrupt/max_uint32_exif.jpg',
]);

/**
 * Returns each distinct file once. EXIF segments without pixels are inserted into `carrier`, a
 * JPEG.
 */
export function realPhotographs(carrier: Buffer): Photograph[] {
  const seen = new Set<string>();
  return namesIn(FOLDER)
    .filter((name) => TYPES[extname(name)] !== undefined && !NONE.has(name))
    .flatMap((name) => {
      const bytes = readFileSync(join(FOLDER, name));
      const sum = createHash('sha256').update(bytes).digest('hex');
      const isNew = bytes.length > 0 && !seen.has(sum);
      seen.add(sum);
      const content_type = TYPES[extname(name)] ?? '';
      return isNew ? [{ name, bytes: whole(bytes, carrier), content_type }] : [];
    });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  } catch {
    throw new Error('no photographs: run test/support/install-test-tools.sh first');
  }
}

const SOS = 0xda;

/** If a JPEG ends within its header, its complete segments are combined with the carrier. */
function whole(bytes: Buffer, carrier: Buffer): Buffer {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return bytes;
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at + 1] !== SOS) {
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) {
      return Buffer.concat([bytes.subarray(0, at), carrier.subarray(2)]);
    }
    at = end;
  }
  return bytes;
}

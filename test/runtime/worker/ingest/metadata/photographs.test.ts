// Photographs of real cameras and programs: all are accepted and shown upright, location and time agree with ExifTool,
// raw downloads have valid metadata, and stored objects contain none. Spec: Output rules 1, 7; File (location).
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HEAD_BYTES, splices } from '../../../../../runtime/delivery/raw/splice.ts';
import type { IngestResult } from '../../../../../runtime/worker/ingest/ingest-result.ts';
import { useDecoder } from '../../../../support/decoder.ts';
import { complaintsAbout } from '../../../../support/judges.ts';
import { type Photograph, realPhotographs } from '../../../../support/photographs.ts';
import { over, photograph } from '../../../../support/pictures.ts';

const decoder = useDecoder();
type Ingested = Photograph & { result: IngestResult; tags: Tags };
type Tags = Readonly<Record<string, string | number | undefined>>;
let folder: string;
let all: Ingested[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-photographs-'));
  const pictures = realPhotographs(await over(photograph(64, 48)).jpeg().toBuffer());
  const tags = await read(pictures, READ_TAGS);
  all = [];
  for (const [at, picture] of pictures.entries()) {
    const result = await decoder.ingest(picture.bytes, picture.content_type);
    all.push({ ...picture, result, tags: tags[at] ?? {} });
  }
}, 300_000);
afterAll(() => rm(folder, { recursive: true }));

const READ_TAGS = [
  ...['DateTimeOriginal', 'OffsetTimeOriginal', 'SubSecTimeOriginal'].map((one) => `-EXIF:${one}`),
  ...['DateTimeOriginal', 'DateCreated', 'CreateDate'].map((one) => `-XMP:${one}`),
  ...['EXIF:GPSLatitude', 'EXIF:GPSLongitude', 'Composite:GPSLatitude', 'Composite:GPSLongitude'],
  ...['XMP:GPSLatitude', 'XMP:GPSLongitude', 'EXIF:Orientation', 'Composite:ImageSize'],
].map((one) => (one.startsWith('-') ? one : `-${one}`));

/** The tags of each file, as ExifTool reads them with numeric values. */
async function read(
  pictures: readonly { bytes: Uint8Array }[],
  tags: readonly string[],
): Promise<Tags[]> {
  const names = pictures.map((_, at) => join(folder, `${at}`));
  await Promise.all(pictures.map(({ bytes }, at) => writeFile(names[at] ?? '', bytes)));
  const args = ['-json', '-n', '-G', ...tags, ...names];
  const { stdout } = await promisify(execFile)('exiftool', args, { maxBuffer: 1e9 });
  return JSON.parse(stdout) as Tags[];
}

/** Files for which we differ from these ExifTool tags on purpose, and why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'IPTC-PhotometadataRef-Std2021.1.jpg': 'where it was made stands in a list of places',
  'metadata-extractor/withXmp.jpg': 'XMP under a name that ExifTool alone takes, with a warning',
  'goexif/geodegrees_as_string.jpg': 'degrees as a text, which ExifTool takes 50 minutes off',
  'metadata-extractor/issue-590.png': 'no side: north or south, east or west',
};

function placeOf(tags: Tags): IngestResult['location'] {
  const side = (name: string) => tags[`Composite:${name}`] ?? tags[`XMP:${name}`];
  const [latitude, longitude] = [side('GPSLatitude'), side('GPSLongitude')].map(Number);
  // Zeros mean that the camera had no position fix.
  const isPlace =
    Number.isFinite(latitude) && Number.isFinite(longitude) && (latitude || longitude);
  return isPlace ? { latitude: latitude ?? 0, longitude: longitude ?? 0 } : null;
}

function timeOf(tags: Tags): string | null {
  const offset = tags['EXIF:OffsetTimeOriginal'] ?? 'Z';
  const fraction = tags['EXIF:SubSecTimeOriginal'];
  const own = iso(`${tags['EXIF:DateTimeOriginal']}${fraction ? `.${fraction}` : ''}${offset}`);
  const others = ['DateTimeOriginal', 'DateCreated', 'CreateDate'].map((name) =>
    iso(`${tags[`XMP:${name}`]}`),
  );
  return own ?? others.find((time) => time !== undefined) ?? null;
}

function iso(text: string): string | undefined {
  const match = /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\s*(Z|[+-]\d\d:\d\d)?$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, year, month, day, time, zone = 'Z'] = match;
  return new Date(`${year}-${month}-${day}T${time}${zone}`).toISOString();
}

describe('real photographs', () => {
  it('are more than a hundred in five formats, many with location or capture time', () => {
    expect(all.length).toBeGreaterThan(100);
    const types = new Set(all.map(({ content_type }) => content_type));
    expect(types.size).toBe(5);
    expect(all.filter(({ result }) => result.location !== null).length).toBeGreaterThan(10);
    expect(all.filter(({ result }) => result.taken_at !== null).length).toBeGreaterThan(60);
  });

  it('have the location and capture time that ExifTool reads', () => {
    const judged = all.filter(({ name }) => !(name in OTHERWISE));
    const ours = judged.map(({ name, result: { location, taken_at } }) => {
      const rounded = location && [location.latitude, location.longitude].map(sixDigits);
      return [name, rounded, taken_at];
    });
    const theirs = judged.map(({ name, tags }) => {
      const place = placeOf(tags);
      const rounded = place && [place.latitude, place.longitude].map(sixDigits);
      return [name, rounded, timeOf(tags)];
    });
    expect(ours).toEqual(theirs);
    const others = all.filter(({ name }) => name in OTHERWISE);
    expect(others.map(({ name, result: { location } }) => [name, location])).toEqual([
      ['IPTC-PhotometadataRef-Std2021.1.jpg', { latitude: 48.275, longitude: 16.338 }],
      ...Object.keys(OTHERWISE)
        .slice(1)
        .toSorted()
        .map((name) => [name, null]),
    ]);
  });

  it('are stored upright, in the size in which they are displayed', () => {
    const ours = all.map(({ name, result: { width, height } }) => [name, width, height]);
    const theirs = all.map(({ name, content_type, tags }) => {
      const sides = String(tags['Composite:ImageSize']).split(' ').map(Number);
      return [name, ...(isTurned(content_type, tags) ? sides.toReversed() : sides)];
    });
    expect(ours).toEqual(theirs);
    const eight = all.filter(({ name }) => /f\d-exif/.test(name));
    expect(eight.map(({ result }) => [result.width, result.height])).toEqual(
      Array.from({ length: 8 }, () => [40, 80]),
    );
  });

  it('leave no metadata in the stored images', async () => {
    const stored = all.flatMap(({ result }) => [
      { content_type: result.content_type, bytes: result.master },
      ...result.mezzanines,
      ...(result.native ? [{ content_type: result.content_type, bytes: result.native }] : []),
    ]);
    expect(await complaintsAbout(stored)).toEqual([]);
  });

  it('get back upright metadata in raw downloads, which ExifTool reads without a warning', async () => {
    const tagged = all.filter(({ result }) => Object.keys(result.metadata).length > 0);
    const raw = await Promise.all(tagged.map(restore));
    expect(raw.length).toBeGreaterThan(70);
    const tags = await read(raw, ['-EXIF:Orientation', '-Warning', '-Error', '-a']);
    const faults = tags.flatMap((said, at) => {
      const { 'ExifTool:Warning': warning, 'ExifTool:Error': error } = said;
      const isUpright = (said['EXIF:Orientation'] ?? 1) === 1;
      return (warning ?? error) || !isUpright ? [{ name: raw[at]?.name, ...said }] : [];
    });
    expect(faults).toEqual([]);
  });
});

function sixDigits(degrees: number): number {
  return Math.round(degrees * 1e6);
}

function isTurned(contentType: string, tags: Tags): boolean {
  return contentType !== 'image/avif' && Number(tags['EXIF:Orientation'] ?? 1) > 4;
}

/** The bytes of a raw download. */
async function restore({ name, result }: Ingested): Promise<{ name: string; bytes: Buffer }> {
  const { content_type, master, native, metadata, width, height, has_alpha } = result;
  const image = native ?? master;
  const head = image.subarray(0, HEAD_BYTES);
  const splice = await splices[content_type]?.(
    { head, size_bytes: image.length, width, height, has_alpha },
    metadata,
  );
  if (splice === undefined) throw new Error(`${content_type} holds no metadata`);
  const { before, from, behind } = splice;
  return { name, bytes: Buffer.concat([before, image.subarray(from), behind]) };
}

// Metadata of common cameras and programs, through the real decoder: location and time are read, maker notes are
// dropped, and published objects contain no source metadata. Spec: Output rules 1, 7.
import { beforeAll, describe, expect, it } from 'vitest';
import { tagged } from '../../../../support/camera.ts';
import { useDecoder } from '../../../../support/decoder.ts';
import { jpegWithExif, printExif } from '../../../../support/exif.ts';
import { complaintsAbout, type Stored } from '../../../../support/judges.ts';
import { type MakerRow, makers, NOTE_MARK, wordsOf } from '../../../../support/makers.ts';
import { over, photograph } from '../../../../support/pictures.ts';

const MAKER_NOTE = 0x927c;
const UNDEFINED = 7;
const TAKEN = {
  location: { latitude: 52.52, longitude: 13.405 },
  taken_at: '2024-05-06T05:08:09.250Z',
};

const decoder = useDecoder();
let jpeg: Buffer;
let uploads: Buffer[];
const published: Stored[] = [];

beforeAll(async () => {
  jpeg = await over(photograph(64, 48)).jpeg().toBuffer();
  uploads = await Promise.all(makers.map((row) => tagged(withNotes(row), 'jpg', wordsOf(row))));
});

/** Adds maker notes before other tags, since ExifTool preserves existing notes. */
function withNotes([make, , note]: MakerRow): Buffer {
  if (note === '') return jpeg;
  const bytes = [...Buffer.from(`${note}${NOTE_MARK}`, 'latin1')];
  const exposure = { [MAKER_NOTE]: [UNDEFINED, bytes] } as const;
  return jpegWithExif(jpeg, printExif({ root: { 271: [2, make] }, exposure }));
}

/** Ingests an upload, and collects all published objects. */
async function ingest(bytes: Buffer, type: string) {
  const result = await decoder.ingest(bytes, type);
  published.push({ content_type: result.content_type, bytes: result.master });
  published.push(...result.mezzanines);
  return result;
}

describe('a photograph', { shuffle: false }, () => {
  it.each(makers.map((row, at) => [`${row[0]} ${row[1]}`, row, at] as const))(
    'from a %s keeps location, capture time and metadata, but not the maker note',
    async (_name, row, at) => {
      const upload = uploads[at] as Buffer;
      expect(upload.includes(NOTE_MARK)).toBe(row[2] !== '');
      const result = await ingest(upload, 'image/jpeg');
      expect(result).toMatchObject(TAKEN);
      const { exif = Buffer.alloc(0), xmp = Buffer.alloc(0) } = result.metadata;
      expect([exif.includes(row[1]), xmp.includes('Harbour')]).toEqual([true, true]);
      expect(exif.includes(NOTE_MARK)).toBe(false);
    },
  );

  it.each(['jpg', 'png', 'webp', 'avif', 'tiff'] as const)(
    'as %s keeps location and capture time, and has two mezzanine images',
    async (extension) => {
      const format = extension === 'jpg' ? 'jpeg' : extension;
      const bytes = await over(photograph(1100, 700)).toFormat(format).toBuffer();
      const upload = await tagged(bytes, extension, wordsOf(makers[0] as MakerRow));
      const { location, taken_at, mezzanines } = await ingest(upload, `image/${format}`);
      expect({ location, taken_at }).toEqual(TAKEN);
      expect(mezzanines).toHaveLength(2);
    },
  );

  it('leaves no metadata in any published object', async () => {
    expect(published.length).toBeGreaterThan(makers.length);
    expect(await complaintsAbout(published)).toEqual([]);
  });
});

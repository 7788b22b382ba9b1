// The directories of a TIFF hold its metadata, in classic files and in BigTIFF. Spec: File (location); Output rules 7.
import { describe, expect, it } from 'vitest';
import { openExif } from '../../../../../runtime/worker/ingest/metadata/exif-block.ts';
import { printBigTiff } from '../../../../support/big-tiff.ts';
import { tagged } from '../../../../support/camera.ts';
import { useDecoder } from '../../../../support/decoder.ts';
import type { ExifSource } from '../../../../support/exif.ts';
import { over, photograph } from '../../../../support/pictures.ts';

const decoder = useDecoder();
const [ASCII, RATIONAL, LONG8] = [2, 5, 16] as const;
const TAKEN = {
  location: { latitude: -33.8566667, longitude: 151.2152222 },
  taken_at: '2024-05-06T05:08:09.000Z',
};

const source: ExifSource = {
  exposure: {
    36867: [ASCII, '2024:05:06 07:08:09'],
    36881: [ASCII, '+02:00'],
    42036: [ASCII, 'Petzval'],
  },
  place: {
    1: [ASCII, 'S'],
    2: [
      RATIONAL,
      [
        [33, 1],
        [51, 1],
        [24, 1],
      ],
    ],
    3: [ASCII, 'E'],
    4: [
      RATIONAL,
      [
        [151, 1],
        [12, 1],
        [548, 10],
      ],
    ],
  },
};

describe('location and capture time of a TIFF', () => {
  it.each(['II', 'MM'] as const)(
    'are read from a BigTIFF in byte order %s, and kept in its metadata',
    async (order) => {
      const { location, taken_at, metadata } = await decoder.ingest(
        printBigTiff({ ...source, order }),
        'image/tiff',
      );
      expect({ location, taken_at }).toEqual(TAKEN);
      const kept = openExif(metadata.exif ?? Buffer.alloc(0));
      expect(kept?.follow(kept.root.get(0x8769)).get(0xa434)?.bytes.toString()).toBe('Petzval\0');
      expect(kept?.follow(kept.root.get(0x8825)).size).toBe(4);
    },
  );

  it('are read from a classic TIFF', async () => {
    const words = [
      ...['-EXIF:DateTimeOriginal=2024:05:06 07:08:09', '-EXIF:OffsetTimeOriginal=+02:00'],
      ...['-EXIF:GPSLatitude=33.8566667', '-EXIF:GPSLatitudeRef=S'],
      ...['-EXIF:GPSLongitude=151.2152222', '-EXIF:GPSLongitudeRef=E'],
    ];
    const tiff = await tagged(await over(photograph(40, 30)).tiff().toBuffer(), 'tif', words);
    expect(await decoder.ingest(tiff, 'image/tiff')).toMatchObject(TAKEN);
  });

  it('are null if their values make no sense', async () => {
    const far = { 2: [LONG8, [1, 1, 1]], 37510: [ASCII, 'x'.repeat(99)] } as const;
    const lost = printBigTiff({ exposure: far, place: far }).subarray(0, -90);
    expect(await decoder.ingest(lost, 'image/tiff')).toMatchObject({
      location: null,
      taken_at: null,
    });
  });
});

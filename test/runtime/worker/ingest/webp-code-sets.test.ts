// The prefix codes of a lossless WebP, for which its decoder builds tables before any pixels. Spec: Limits, Uploads.
import { describe, expect, it } from 'vitest';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { cutOut, drawing, over, photograph } from '../../../support/pictures.ts';
import { webpOfSets } from '../../../support/webp-sets.ts';

const WEBP = 'image/webp';
const decoder = useDecoder();
const tableBytes = (bytes: Buffer) => scanImage(bytes, WEBP).table_bytes ?? 0;

describe('the prefix code tables of a lossless WebP', () => {
  it.each([1, 2, 700, 4096])('are counted, whatever their number: %i sets', async (sets) => {
    const upload = webpOfSets(256, sets);
    expect(tableBytes(upload) / tableBytes(webpOfSets(256, 1))).toBe(sets);
    expect(await decoder.ingest(upload, WEBP)).toMatchObject({ width: 256, height: 256 });
  });

  it('are small in files of the usual encoder, whatever the image and its settings', async () => {
    const grey = over(drawing(320, 200)).greyscale();
    const pictures = [
      over(photograph(320, 240)),
      over(drawing(320, 200)),
      grey,
      over(cutOut(99, 99)),
    ];
    for (const picture of pictures) {
      for (const effort of [0, 3, 6]) {
        for (const options of [{ lossless: true }, { nearLossless: true, quality: 50 }]) {
          const bytes = tableBytes(
            await picture
              .clone()
              .webp({ ...options, effort })
              .toBuffer(),
          );
          expect(bytes).toBeGreaterThan(0);
          expect(bytes).toBeLessThan(3_000_000);
        }
      }
    }
  });

  it('are counted for the alpha of a lossy WebP, and for nothing else in it', async () => {
    const lossy = (quality: number) => over(cutOut(200, 200)).webp({ alphaQuality: quality });
    expect(tableBytes(await lossy(100).toBuffer())).toBeGreaterThan(0);
    expect(tableBytes(await over(photograph(200, 200)).webp().toBuffer())).toBe(0);
  });

  it('are not counted if they are invalid, and the decoder rejects the file', async () => {
    const upload = webpOfSets(256, 4);
    upload.fill(0, 27);
    expect(tableBytes(upload)).toBe(0);
    expect(await decoder.refusal(upload, WEBP)).toBe('decode_failed');
  });
});

// A JPEG with an EXIF orientation is stored upright without visible change, and hardly larger if its blocks stay whole.
// Uses real photographs. Spec: What the service does.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { cjpeg } from '../../../support/cjpeg.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { samplesOf } from '../../../support/quality/likeness.ts';
import { sampleOf } from '../../../support/sample.ts';
import { ssim } from '../../../support/ssim.ts';

/** From Debian's mate-backgrounds package. */
const FOLDER = '/usr/share/backgrounds/mate';
const names = [
  ...readdirSync(join(FOLDER, 'nature')).map((name) => `nature/${name}`),
  'abstract/Elephants.jpg',
];
const QUALITIES = [60, 75, 90];
const ORIENTATIONS = [1, 2, 3, 6, 8];
/** Every sixth photograph is enough, since they differ in what they show. */
const ONE_IN = 6;
const SSIM_MIN = 0.98;
const GROWTH_P95_MAX = 1.25;
/** A whole number of JPEG blocks, as cameras produce, and a size that cuts blocks. */
const WHOLE = { width: 256, height: 200 };
const CUT = { width: 261, height: 197 };

const decoder = useDecoder();

async function stored(bytes: Buffer): Promise<{ likeness: number; growth: number }> {
  const { master } = await decoder.ingest(bytes, 'image/jpeg');
  const likeness = ssim(await samplesOf(bytes), await samplesOf(master));
  return { likeness, growth: master.length / bytes.length };
}

/** Uploads in every quality and orientation. */
async function uploads(name: string, size: typeof WHOLE): Promise<(readonly [string, Buffer])[]> {
  const small = await sharp(join(FOLDER, name)).resize(size).removeAlpha().png().toBuffer();
  const requests = QUALITIES.flatMap((quality) =>
    ORIENTATIONS.map((orientation) => ({ quality, orientation })),
  );
  return Promise.all(
    requests.map(async ({ quality, orientation }) => {
      const upload = sharp(small).jpeg({ quality }).withMetadata({ orientation });
      return [`quality ${quality}, orientation ${orientation}`, await upload.toBuffer()] as const;
    }),
  );
}

it('at least a dozen photographs are available for the tests of rotated JPEGs', () => {
  expect(names.length).toBeGreaterThanOrEqual(12);
});

describe.each(sampleOf(names, ONE_IN))('a JPEG of %s', (name) => {
  it('looks the same and has hardly grown when it is stored in any orientation, if its blocks stay whole', async () => {
    const growth: number[] = [];
    for (const [which, upload] of await uploads(name, WHOLE)) {
      const seen = await stored(upload);
      expect(seen.likeness, which).toBeGreaterThanOrEqual(SSIM_MIN);
      growth.push(seen.growth);
    }
    const p95 = growth.toSorted((a, b) => a - b)[Math.ceil(growth.length * 0.95) - 1];
    expect(p95).toBeLessThanOrEqual(GROWTH_P95_MAX);
  });

  it('looks the same when it is stored in any orientation, if its blocks are cut', async () => {
    for (const [which, upload] of await uploads(name, CUT)) {
      expect((await stored(upload)).likeness, which).toBeGreaterThanOrEqual(SSIM_MIN);
    }
  });

  it('looks the same when it is stored, if it was encoded in RGB instead of YCbCr', async () => {
    const data = await sharp(join(FOLDER, name)).resize(CUT).removeAlpha().raw().toBuffer();
    for (const quality of [30, 45, ...QUALITIES]) {
      const upload = await cjpeg({ data, ...CUT, channels: 3 }, ['-rgb', '-quality', `${quality}`]);
      expect((await stored(upload)).likeness, `${quality}`).toBeGreaterThanOrEqual(SSIM_MIN);
    }
  });
});

// A palette PNG that becomes too large when re-encoded is refused, at a limit that a test can reach. Spec: Processing
// error codes.
import sharp from 'sharp';
import { expect, it, vi } from 'vitest';
import { ingestJob } from '../../../../runtime/worker/ingest/ingest-job.ts';

const { GROWN_MAX } = vi.hoisted(() => ({ GROWN_MAX: 12_000 }));
const SIDE = 100;

vi.mock('../../../../runtime/core/limits.ts', async (original) => ({
  ...(await original<object>()),
  SANITIZED_GROWN_BYTES_MAX: GROWN_MAX,
}));

/** Dots of as many colours as a palette has: one byte each there, and three without it. */
function dots(colours: number): Promise<Buffer> {
  const data = Buffer.alloc(SIDE * SIDE * 3);
  let state = 1;
  for (let at = 0; at < data.length; at += 3) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const colour = (state >> 16) % colours;
    data.set([colour, (colour * 91) % 256, (colour * 37) % 256], at);
  }
  const raw = { width: SIDE, height: SIDE, channels: 3 as const };
  return sharp(data, { raw })
    .png({ palette: true, colours: 256, dither: 0, effort: 10 })
    .toBuffer();
}

it('a palette PNG that becomes too large when re-encoded: image_too_large', async () => {
  const upload = await dots(256);
  expect(upload.length).toBeLessThan(GROWN_MAX);
  const { facts } = await ingestJob({ content_type: 'image/png' }, [upload], async () => true);
  expect(facts).toMatchObject({ error_code: 'image_too_large' });
  expect(JSON.stringify(facts)).toContain('when re-encoded');
});

it('one that stays below the limit is taken', async () => {
  const { facts } = await ingestJob(
    { content_type: 'image/png' },
    [await dots(2)],
    async () => true,
  );
  expect(facts).toMatchObject({ content_type: 'image/png' });
});

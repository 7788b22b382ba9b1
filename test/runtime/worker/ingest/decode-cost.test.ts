import { afterEach, describe, expect, it, vi } from 'vitest';
import { pixelLimit } from '../../../../runtime/core/image/formats.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { estimateCost } from '../../../../runtime/worker/ingest/decode-cost.ts';
import { readIngestAnswer } from '../../../../runtime/worker/ingest/read-answer.ts';
import { sampleBytesOf, scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { type Admission, createAdmission } from '../../../../runtime/worker/sandbox/admission.ts';
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
} from '../../../../runtime/worker/sandbox/sandbox.ts';
import { flatScansJpeg } from '../../../support/flat-scans-jpeg.ts';
import { over, photograph } from '../../../support/pictures.ts';
import { filterOfResults, square } from '../../../support/svg-square.ts';

/** As in the worker's upload lane. */
const SLOT_MEMORY_BYTES = 2_147_483_648;
const WALL_CLOCK_MS = 60_000;

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

function decoder(options: Partial<SandboxOptions> = {}): Sandbox {
  const sandbox = createSandbox({
    slots: 1,
    wall_clock_ms: WALL_CLOCK_MS,
    memory_bytes: 2_000_000_000,
    jobs_per_child: 10,
    log: createLog({ level: 'silent', name: 'test' }),
    ...options,
  });
  open.push(sandbox);
  return sandbox;
}

const picture = () => over(photograph(900, 600));
const jpeg = (progressive: boolean) => picture().jpeg({ progressive }).toBuffer();
const png = (progressive: boolean) => picture().png({ progressive }).toBuffer();
const ingest = (content_type: string, bytes: Buffer, signal?: AbortSignal) => ({
  kind: 'ingest',
  facts: { content_type },
  parts: [bytes],
  ...(signal === undefined ? {} : { signal }),
});

describe('the memory estimate from a header', () => {
  it('is larger for progressive JPEGs and interlaced PNGs, which are decoded as a whole', async () => {
    const cost = (bytes: Buffer, type: string) =>
      estimateCost({ ...scanImage(bytes, type), width: 9000, height: 9000 }, bytes).memory_bytes;
    const sized = {
      jpeg: [await jpeg(false), await jpeg(true)],
      png: [await png(false), await png(true)],
    };
    for (const [name, [plain, whole]] of Object.entries(sized)) {
      if (plain === undefined || whole === undefined) continue;
      expect(cost(whole, `image/${name}`)).toBeGreaterThan(cost(plain, `image/${name}`) + 2e8);
    }
  });

  it('is the same for a JPEG with one scan per color component as for a progressive one', async () => {
    const size = { width: 9000, height: 9000 };
    const [scans, progressive] = [flatScansJpeg({ width: 64, height: 64 }), await jpeg(true)];
    const costs = [scans, progressive].map((bytes) => {
      const header = { ...scanImage(bytes, 'image/jpeg'), ...size };
      return estimateCost(header, Buffer.alloc(1000)).memory_bytes;
    });
    expect(costs[0]).toBe(costs[1]);
  });

  it('counts 10- and 12-bit samples as 16 bits, the depth to which they are decoded', async () => {
    expect([8, 10, 12, 16].map((bits_per_channel) => sampleBytesOf({ bits_per_channel }))).toEqual([
      1, 2, 2, 2,
    ]);
    const bytes = await jpeg(false);
    const costs = [8, 10, 16].map((bits_per_channel) => {
      const header = { ...scanImage(bytes, 'image/jpeg'), bits_per_channel };
      return estimateCost(header, bytes).memory_bytes;
    });
    expect(costs[1]).toBeGreaterThan(costs[0] ?? Infinity);
    expect(costs[1]).toBe(costs[2]);
  });

  it('is larger for CMYK JPEGs than for RGB ones, baseline and progressive', async () => {
    const inks = await picture().toColourspace('cmyk').jpeg().toBuffer();
    const plain = await jpeg(false);
    const cost = (bytes: Buffer) =>
      estimateCost({ ...scanImage(bytes, 'image/jpeg'), width: 9000, height: 9000 }, bytes);
    expect(cost(inks).memory_bytes).toBeGreaterThan(cost(plain).memory_bytes + 1.5e8);
    // Progressive CMYK also holds a third more coefficients, for the fourth channel.
    const whole = await picture().toColourspace('cmyk').jpeg({ progressive: true }).toBuffer();
    const fewer = cost(await jpeg(true)).memory_bytes;
    expect(cost(whole).memory_bytes).toBeGreaterThan(fewer + 3.5e8);
  });
});

describe('the largest image within the pixel limits', () => {
  const types = ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff', 'bmp'] as const;
  const isDeep = (name: string) => ['png', 'avif', 'tiff'].includes(name);
  const cases = types.flatMap((name) =>
    (isDeep(name) ? [8, 16] : [8]).flatMap((bits_per_channel) =>
      [true, false].map((is_lossless) => ({ name, bits_per_channel, is_lossless })),
    ),
  );
  it.each(cases)(
    'fits into the memory of a slot: $name, $bits_per_channel bits, lossless: $is_lossless',
    ({ name, ...traits }) => {
      const content_type = `image/${name}` as const;
      const facts = { content_type, has_alpha: false, ...traits };
      const rest = { frames: 1, quality: null, chroma: null, is_palette: false };
      const whole = { is_progressive: true };
      const header = { ...facts, ...rest, ...whole, width: pixelLimit(facts), height: 1 };
      const bytes = Buffer.alloc(60_000_000);
      expect(estimateCost(header, bytes).memory_bytes).toBeLessThan(SLOT_MEMORY_BYTES);
    },
  );
});

/** Drawings that are small except for the named cost. */
const fullDrawings = [
  [
    'whose filter keeps 200 results',
    `${filterOfResults(200)}<rect width="9" height="9" filter="url(#f)"/>`,
  ],
  [
    'whose pattern has a tile of 400 megapixels',
    '<pattern id="p" width="20000" height="20000" patternUnits="userSpaceOnUse"/><rect width="9" height="9" fill="url(#p)"/>',
  ],
  [
    'whose pattern has a tile beyond all numbers',
    '<pattern id="p" width="1e200" height="1e200" patternUnits="userSpaceOnUse"/><rect width="9" height="9" fill="url(#p)"/>',
  ],
  [
    'whose pattern takes its size from another',
    '<pattern id="p" width="4" height="4"/><pattern id="q" href="#p"/><g stroke="url(#q)"><rect width="8000" height="9"/></g>',
  ],
] as const;

describe('an upload whose memory estimate exceeds the slot', () => {
  it('is rejected with image_too_large before it is decoded', async () => {
    const sandbox = decoder({ memory_bytes: 170_000_000 });
    const bytes = await over(photograph(3000, 2000)).jpeg().toBuffer();
    const answer = await sandbox.run(ingest('image/jpeg', bytes));
    expect(answer.facts).toMatchObject({ error_code: 'image_too_large' });
    expect(() => readIngestAnswer(answer)).toThrow(/^image_too_large: about \d+ bytes of memory$/);
  });

  it.each(fullDrawings)(
    'is rejected with image_too_large if it is an SVG %s',
    async (_name, content) => {
      const sandbox = decoder({ memory_bytes: SLOT_MEMORY_BYTES });
      const { facts } = await sandbox.run(ingest('image/svg+xml', Buffer.from(square(content))));
      expect(facts).toMatchObject({ error_code: 'image_too_large' });
      expect(facts.detail).toMatch(/bytes of memory/);
    },
  );
});

/** An admission without free memory until `leave`; `asked` resolves when a job waits for it. */
async function fullAdmission() {
  const { enter } = createAdmission({ memory_bytes: 200_000_000 });
  const leave = await enter(200_000_000);
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const admission: Admission = {
    enter: (...wanted) => {
      const entered = enter(...wanted);
      resolve();
      return entered;
    },
  };
  return { admission, leave, asked };
}

describe('an upload that fits into the slot but has to wait for free memory', () => {
  it('waits with its timeout paused, and then succeeds', async () => {
    const { admission, leave, asked } = await fullAdmission();
    const sandbox = decoder({ admission });
    const bytes = await jpeg(false);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const result = sandbox.run(ingest('image/jpeg', bytes));
    await asked;
    vi.advanceTimersByTime(10 * WALL_CLOCK_MS);
    vi.useRealTimers();
    leave();
    expect((await result).facts).toMatchObject({ width: 900, height: 600 });
    // The upload has left, so all memory can be admitted again.
    await admission.enter(200_000_000);
  });

  it('leaves the queue when it is aborted', async () => {
    const { admission, leave, asked } = await fullAdmission();
    const stop = new AbortController();
    const sandbox = decoder({ admission });
    const run = sandbox.run(ingest('image/jpeg', await jpeg(false), stop.signal));
    await asked;
    stop.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
    leave();
    expect((await sandbox.run(ingest('image/png', await png(false)))).facts.width).toBe(900);
  });
});

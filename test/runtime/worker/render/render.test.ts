import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { planRender } from '../../../../runtime/core/delivery/plan.ts';
import type { RenderInput } from '../../../../runtime/worker/render/render.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { meanDifference } from '../../../support/picture-difference.ts';
import {
  cutOut,
  deepPng,
  drawing,
  over,
  photograph,
  psnr,
  quarters,
} from '../../../support/pictures.ts';

const decoder = useDecoder();

type Plan = RenderInput['plan'];

function plan(changes: Partial<Plan> = {}): Plan {
  return {
    window: { x: 0, y: 0, width: 400, height: 300 },
    output: { width: 200, height: 150 },
    format: 'jpeg',
    quality: 80,
    watermark: null,
    ...changes,
  };
}

const jpeg = (quality = 95) => over(photograph(400, 300)).jpeg({ quality }).toBuffer();
const raw = (bytes: Buffer) => sharp(bytes).removeAlpha().raw().toBuffer();

async function colorAt(bytes: Buffer, left: number, top: number): Promise<number[]> {
  return [...(await sharp(bytes).extract({ left, top, width: 1, height: 1 }).raw().toBuffer())];
}

describe('a render', () => {
  it.each([
    ['jpeg', 'image/jpeg'],
    ['png', 'image/png'],
    ['webp', 'image/webp'],
    ['avif', 'image/avif'],
    ['gif', 'image/gif'],
  ] as const)('to %s has the planned size, type and picture', async (format, type) => {
    const source = await jpeg();
    const quality = format === 'gif' ? null : 90;
    const image = await decoder.render({
      plan: plan({ format, quality }),
      source,
      watermark: null,
    });
    expect(image).toMatchObject({ content_type: type, width: 200, height: 150 });
    const { info, data } = await sharp(image.bytes)
      .toColourspace('srgb')
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([200, 150]);
    const expected = await sharp(source).resize(200, 150).raw().toBuffer();
    expect(psnr(data, expected)).toBeGreaterThan(format === 'gif' ? 25 : 33);
  });

  it('comes out as exactly the planned size, however odd', async () => {
    const source = await over(photograph(397, 301)).png().toBuffer();
    for (const [width, height] of [
      [1, 1],
      [3, 211],
      [397, 1],
      [500, 7],
    ] as const) {
      const image = await decoder.render({
        plan: plan({ window: { x: 0, y: 0, width: 397, height: 301 }, output: { width, height } }),
        source,
        watermark: null,
      });
      const seen = await sharp(image.bytes).metadata();
      expect([seen.width, seen.height]).toEqual([width, height]);
    }
  });

  it('shows only the planned window', async () => {
    const source = await over(quarters(400, 300)).png().toBuffer();
    const image = await decoder.render({
      plan: plan({ window: { x: 200, y: 0, width: 200, height: 150 }, format: 'png', quality: 34 }),
      source,
      watermark: null,
    });
    const { channels } = await sharp(image.bytes).stats();
    expect(channels.map(({ min, max }) => [min, max])).toEqual([
      [0, 0],
      [255, 255],
      [0, 0],
    ]);
  });

  it('gives the same bytes for the same plan', async () => {
    const source = await jpeg();
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
      const input = { plan: plan({ format, quality: 60 }), source, watermark: null };
      const [one, two] = [await decoder.render(input), await decoder.render(input)];
      expect(one.bytes.equals(two.bytes), format).toBe(true);
    }
  });

  it('to JPEG is white where the source is transparent', async () => {
    const source = await over(cutOut(400, 400)).png().toBuffer();
    const image = await decoder.render({
      plan: plan({
        window: { x: 0, y: 0, width: 400, height: 400 },
        output: { width: 100, height: 100 },
        quality: 95,
      }),
      source,
      watermark: null,
    });
    expect(Math.min(...(await colorAt(image.bytes, 2, 2)))).toBeGreaterThan(250);
  });

  it.each(['png', 'webp', 'avif'] as const)('to %s stays transparent', async (format) => {
    const source = await over(cutOut(400, 400)).webp({ lossless: true }).toBuffer();
    const image = await decoder.render({
      plan: plan({ window: { x: 0, y: 0, width: 400, height: 400 }, format }),
      source,
      watermark: null,
    });
    expect((await sharp(image.bytes).ensureAlpha().extractChannel(3).raw().toBuffer())[0]).toBe(0);
  });

  it('of 16 bits comes out with 8 bits', async () => {
    const image = await decoder.render({
      plan: plan({ window: { x: 0, y: 0, width: 400, height: 300 }, format: 'png' }),
      source: await deepPng(400, 300),
      watermark: null,
    });
    expect((await sharp(image.bytes).metadata()).depth).toBe('uchar');
  });

  it('carries no metadata', async () => {
    const source = await over(photograph(400, 300)).withIccProfile('p3').jpeg().toBuffer();
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
      const { bytes } = await decoder.render({ plan: plan({ format }), source, watermark: null });
      const { exif, icc, xmp } = await sharp(bytes).metadata();
      expect([exif, icc, xmp], format).toEqual([undefined, undefined, undefined]);
    }
  });

  it('is smaller at a lower quality, and keeps full color from quality 90', async () => {
    const source = await jpeg();
    const at = async (quality: number) =>
      (await decoder.render({ plan: plan({ quality }), source, watermark: null })).bytes;
    expect((await at(30)).length).toBeLessThan((await at(80)).length);
    expect((await sharp(await at(89)).metadata()).chromaSubsampling).toBe('4:2:0');
    expect((await sharp(await at(90)).metadata()).chromaSubsampling).toBe('4:4:4');
  });

  it('to PNG is lossless at any quality', async () => {
    const source = await over(drawing(400, 300)).png().toBuffer();
    const whole = { width: 400, height: 300 };
    const images = await Promise.all(
      [1, 50, 100].map((quality) =>
        decoder.render({
          plan: plan({ output: whole, format: 'png', quality }),
          source,
          watermark: null,
        }),
      ),
    );
    for (const { bytes } of images) {
      expect((await raw(bytes)).equals(drawing(400, 300).data)).toBe(true);
      expect((await sharp(bytes).metadata()).isPalette).toBe(false);
    }
    const [smallest, , fastest] = images;
    expect(smallest?.bytes.length).toBeLessThan(fastest?.bytes.length ?? 0);
  });

  it('that enlarges looks like the source', async () => {
    const source = await over(photograph(40, 30)).png().toBuffer();
    const { bytes } = await decoder.render({
      plan: plan({
        window: { x: 0, y: 0, width: 40, height: 30 },
        output: { width: 160, height: 120 },
        format: 'png',
      }),
      source,
      watermark: null,
    });
    const back = await sharp(bytes).resize(40, 30).raw().toBuffer();
    expect(psnr(back, photograph(40, 30).data)).toBeGreaterThan(30);
  });

  it('of a GIF with few colors has the new colors that resizing makes', async () => {
    const source = await over(drawing(400, 300)).gif({ dither: 0 }).toBuffer();
    const [asGif, asPng] = await Promise.all(
      (['gif', 'png'] as const).map(async (format) => {
        const resized = plan({ format, output: { width: 130, height: 98 } });
        return raw((await decoder.render({ plan: resized, source, watermark: null })).bytes);
      }),
    );
    expect(meanDifference(asGif, asPng)).toBeLessThan(2);
  });

  it('of a part of a GIF keeps every color exactly', async () => {
    const source = await over(photograph(400, 300)).gif().toBuffer();
    const window = { x: 30, y: 20, width: 300, height: 200 };
    const cut = plan({ format: 'gif', window, output: { width: 300, height: 200 } });
    const { bytes } = await decoder.render({ plan: cut, source, watermark: null });
    const expected = sharp(source).extract({ left: 30, top: 20, width: 300, height: 200 });
    expect(meanDifference(await raw(bytes), await raw(await expected.png().toBuffer()))).toBe(0);
  });
});

describe('a watermark', () => {
  const mark = {
    object_key: 'k',
    revision_tag: 'r',
    x: 20,
    y: 10,
    width: 50,
    height: 40,
    opacity: 100,
  };
  const solid = (alpha: number) =>
    sharp({
      create: { width: 50, height: 40, channels: 4, background: { r: 255, g: 0, b: 255, alpha } },
    })
      .png()
      .toBuffer();
  const grey = () =>
    sharp({ create: { width: 400, height: 300, channels: 3, background: '#646464' } })
      .png()
      .toBuffer();
  const draw = async (
    changes: Partial<typeof mark>,
    watermark: Buffer,
    format: Plan['format'] = 'png',
  ) =>
    (
      await decoder.render({
        plan: plan({ format, quality: 95, watermark: { ...mark, ...changes } }),
        source: await grey(),
        watermark,
      })
    ).bytes;

  it('lies where it was placed, to the pixel', async () => {
    const bytes = await draw({}, await solid(1));
    expect(await colorAt(bytes, 20, 10)).toEqual([255, 0, 255]);
    expect(await colorAt(bytes, 69, 49)).toEqual([255, 0, 255]);
    expect(await colorAt(bytes, 19, 10)).toEqual([100, 100, 100]);
    expect(await colorAt(bytes, 70, 49)).toEqual([100, 100, 100]);
    expect(await colorAt(bytes, 69, 50)).toEqual([100, 100, 100]);
  });

  it('multiplies its opacity with its own transparency', async () => {
    const [half, quarter] = [
      await colorAt(await draw({ opacity: 50 }, await solid(1)), 30, 30),
      await colorAt(await draw({ opacity: 50 }, await solid(0.5)), 30, 30),
    ];
    for (const [index, value] of [178, 50, 178].entries()) {
      expect(Math.abs((half[index] ?? 0) - value)).toBeLessThanOrEqual(2);
    }
    for (const [index, value] of [139, 75, 139].entries()) {
      expect(Math.abs((quarter[index] ?? 0) - value)).toBeLessThanOrEqual(2);
    }
  });

  it('is shrunk to the planned size', async () => {
    const bytes = await draw({ width: 10, height: 8 }, await solid(1));
    expect(await colorAt(bytes, 29, 17)).toEqual([255, 0, 255]);
    expect(await colorAt(bytes, 30, 17)).toEqual([100, 100, 100]);
  });

  it('may be a JPEG, without transparency of its own', async () => {
    const source = await over(quarters(50, 40))
      .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
      .toBuffer();
    const [red, green, blue] = await colorAt(await draw({}, source), 25, 15);
    expect([(red ?? 0) > 250, (green ?? 9) < 5, (blue ?? 9) < 5]).toEqual([true, true, true]);
  });

  it('leaves an opaque picture opaque', async () => {
    for (const format of ['png', 'webp', 'avif'] as const) {
      const bytes = await draw({}, await solid(0.5), format);
      expect((await sharp(bytes).metadata()).hasAlpha, format).toBe(false);
    }
  });

  it('is blended with white when a transparent image becomes a JPEG', async () => {
    const image = await decoder.render({
      plan: plan({
        window: { x: 0, y: 0, width: 400, height: 400 },
        output: { width: 200, height: 200 },
        quality: 95,
        watermark: { ...mark, x: 0, y: 0, opacity: 50 },
      }),
      source: await over(cutOut(400, 400)).png().toBuffer(),
      watermark: await solid(1),
    });
    const [red, green, blue] = await colorAt(image.bytes, 3, 3);
    expect(red).toBeGreaterThan(250);
    expect(Math.abs((green ?? 0) - 127)).toBeLessThan(8);
    expect(blue).toBeGreaterThan(250);
  });
});

it('a plan made by the planner is rendered in its size and type', async () => {
  const source = {
    content_type: 'image/jpeg' as const,
    width: 400,
    height: 300,
    has_alpha: false,
    is_lossless: false,
    focal_x: 0.5,
    focal_y: 0.5,
  };
  const planned = planRender({
    source,
    chain: { resize: { width: 120, height: 120 }, mode: 'smart', format: 'webp' },
    watermark: null,
  });
  if (planned === undefined) return expect.fail('no plan');
  const image = await decoder.render({ plan: planned, source: await jpeg(), watermark: null });
  expect([image.width, image.height, image.content_type]).toEqual([120, 120, 'image/webp']);
});

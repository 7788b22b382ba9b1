// Watermarks, checked by pixels over HTTP. Spec: Watermark preset; Output rules 5.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { renderRequestSchema } from '../../../runtime/core/delivery/render-request.ts';
import type { FileRow } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import {
  upsertWatermarkPreset,
  type WatermarkPresetRow,
} from '../../../runtime/db/watermark-presets.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { id, makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let project: ProjectRow;
let logo: FileRow;

const GREY = [100, 100, 100];
const PINK = [255, 0, 255];

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  project = await makeProject(db);
  await publish('grey', { bytes: await grey().png().toBuffer(), ...BASE });
  logo = await publish('logo', { bytes: await pink(1), width: 20, height: 10 });
});
afterAll(() => host.close());

const BASE = { width: 100, height: 80 };
const grey = () => sharp({ create: { ...BASE, channels: 3, background: '#646464' } });

const pink = (alpha: number, { width = 20, height = 10 } = {}) =>
  sharp({ create: { width, height, channels: 4, background: { r: 255, g: 0, b: 255, alpha } } })
    .png()
    .toBuffer();

/** A single-color PNG with 16 bits per channel; four channels include alpha. */
async function deep(color: readonly number[], { width, height } = BASE): Promise<Buffer> {
  const values = Uint16Array.from(
    { length: width * height * color.length },
    (_, at) => (color[at % color.length] ?? 0) * 257,
  );
  const raw = { width, height, channels: color.length === 4 ? (4 as const) : (3 as const) };
  return sharp(values, { raw }).toColourspace('rgb16').png().toBuffer();
}

function publish(
  file_slug: string,
  image: { bytes: Buffer; width: number; height: number },
): Promise<FileRow> {
  const stored = { ...image, content_type: 'image/png' as const };
  return publishImage({ db, content: host.content }, project, { image: stored, file_slug });
}

type Place = Partial<Pick<WatermarkPresetRow, 'x_offset' | 'y_offset' | 'opacity'>>;

/** Creates a preset, and expires cached lookups. */
async function preset(file: FileRow, place: Place = {}): Promise<string> {
  const watermark_preset_id = id('wm');
  const { project_id } = project;
  const { file_id } = file;
  const name = watermark_preset_id;
  const settings = { x_offset: 0, y_offset: 0, opacity: 100, ...place };
  await db.transaction((tx) =>
    upsertWatermarkPreset(tx, { watermark_preset_id, project_id, name, file_id, ...settings }),
  );
  host.clock.advance(30);
  return watermark_preset_id;
}

async function pixels(path: string) {
  const { status, body } = await host.get(project.project_slug, path);
  expect(status, body.toString('latin1').slice(0, 200)).toBe(200);
  const { data, info } = await sharp(body).raw().toBuffer({ resolveWithObject: true });
  return {
    info,
    at: (x: number, y: number) => {
      const start = (y * info.width + x) * info.channels;
      return [...data.subarray(start, start + info.channels)];
    },
  };
}

const near = (found: number[], wanted: number[]) =>
  expect(
    found.length === wanted.length && found.every((v, at) => Math.abs(v - (wanted[at] ?? 0)) <= 2),
    `${found} is not ${wanted}`,
  ).toBe(true);

describe('a watermark with offsets', () => {
  it.each([
    [{}, [0, 0]],
    [{ x_offset: 7, y_offset: 3 }, [7, 3]],
    [{ x_offset: -1, y_offset: -1 }, [79, 69]],
    [{ x_offset: -10, y_offset: 5 }, [70, 5]],
    [{ x_offset: 500, y_offset: -500 }, [80, 0]],
  ])('%j has its top left corner at %j', async (place, [left = 0, top = 0]) => {
    const { at } = await pixels(`/watermark:${await preset(logo, place)}/f/grey`);
    expect([at(left, top), at(left + 19, top + 9)]).toEqual([PINK, PINK]);
    const outside: [number, number][] = [
      [left - 1, top],
      [left, top - 1],
      [left + 20, top + 9],
      [left + 19, top + 10],
    ];
    for (const [x, y] of outside.filter(([x, y]) => x >= 0 && y >= 0 && x < 100 && y < 80)) {
      expect(at(x, y), `${x}, ${y}`).toEqual(GREY);
    }
  });

  it('is placed in pixels of the output, whatever the size of the source', async () => {
    const mark = await preset(logo, { x_offset: 5, y_offset: 5 });
    const { at } = await pixels(`/resize/50x40/watermark:${mark}/f/grey`);
    expect([at(5, 5), at(24, 14), at(4, 5), at(25, 14)]).toEqual([PINK, PINK, GREY, GREY]);
  });
});

describe('a watermark that is larger than the output', () => {
  it('is shrunk to fit, keeping its aspect ratio, and its offsets only move it inside', async () => {
    const bytes = await pink(1, { width: 400, height: 100 });
    const banner = await publish('banner', { bytes, width: 400, height: 100 });
    const { at } = await pixels(
      `/watermark:${await preset(banner, { x_offset: 9, y_offset: -4 })}/f/grey`,
    );
    // The mark is shrunk to 100x25, four pixels above the lower edge.
    expect([at(0, 51), at(99, 75), at(0, 50), at(99, 76)]).toEqual([PINK, PINK, GREY, GREY]);
  });

  it('covers at most the whole of a tiny output', async () => {
    const { info, at } = await pixels(`/resize/3x2/watermark:${await preset(logo)}/f/grey`);
    expect([info.width, info.height, at(0, 0), at(2, 0)]).toEqual([3, 2, PINK, PINK]);
  });
});

describe('the opacity of a watermark', () => {
  it.each([
    [100, PINK],
    [50, [178, 50, 178]],
    [1, [102, 99, 102]],
    [0, GREY],
  ])('of %i blends its color with that of the image', async (opacity, color) => {
    const { at } = await pixels(`/watermark:${await preset(logo, { opacity })}/f/grey`);
    near(at(10, 5), color);
  });

  it('is multiplied by its own transparency', async () => {
    const bytes = await pink(0.5);
    const pale = await publish('pale', { bytes, width: 20, height: 10 });
    const { at } = await pixels(`/watermark:${await preset(pale, { opacity: 50 })}/f/grey`);
    near(at(10, 5), [139, 75, 139]);
  });
});

describe('watermarks with transparency and 16 bits per channel', () => {
  it('a transparent image stays so beside the watermark, and is covered below it', async () => {
    const bytes = await sharp({
      create: { ...BASE, channels: 4, background: { r: 0, g: 200, b: 0, alpha: 0 } },
    })
      .png()
      .toBuffer();
    await publish('clear', { bytes, ...BASE });
    const half = await preset(logo, { opacity: 50 });
    const { at } = await pixels(`/watermark:${half}/f/clear`);
    expect(at(50, 50)[3]).toBe(0);
    near(at(10, 5), [255, 0, 255, 128]);
    const flat = await pixels(`/watermark:${half}/format/jpeg/quality/100/f/clear`);
    near(flat.at(50, 50), [255, 255, 255]);
  });

  it.each([
    ['opaque', [100, 100, 100]],
    ['transparent', [100, 100, 100, 128]],
  ])('a 16-bit image that is %s gets the same colors as an 8-bit one', async (name, color) => {
    await publish(`deep-${name}`, { bytes: await deep(color), ...BASE });
    const { at, info } = await pixels(`/watermark:${await preset(logo)}/f/deep-${name}`);
    expect(info.channels).toBe(color.length);
    near(at(10, 5), color.length === 4 ? [...PINK, 255] : PINK);
    near(at(50, 50), color);
  });

  it.each([
    ['opaque', [255, 0, 255], PINK],
    ['half', [255, 0, 255, 128], [178, 50, 178]],
  ])('a 16-bit watermark that is %s is drawn in its colors', async (name, color, drawn) => {
    const size = { width: 20, height: 10 };
    const file = await publish(`mark-${name}`, { bytes: await deep(color, size), ...size });
    const { at } = await pixels(`/watermark:${await preset(file)}/f/grey`);
    near(at(10, 5), drawn);
    expect(at(50, 50)).toEqual(GREY);
  });

  it('a gray watermark with transparency is drawn gray', async () => {
    const raw = { width: 20, height: 10, channels: 2 as const };
    const pairs = Buffer.from(Array.from({ length: 400 }, (_, at) => (at % 2 ? 128 : 250)));
    const bytes = await sharp(pairs, { raw }).png().toBuffer();
    const file = await publish('pale-grey', { bytes, width: 20, height: 10 });
    const { at } = await pixels(`/watermark:${await preset(file)}/f/grey`);
    near(at(10, 5), [175, 175, 175]);
  });
});

describe('the render cost of a watermark', () => {
  it('counts the size of the watermark image', async () => {
    const size = { width: 4000, height: 3000 };
    const large = await publish('large', { bytes: await pink(1, size), ...size });
    const calls = vi.spyOn(host.queue, 'call');
    const weights = [];
    for (const file of [logo, large]) {
      await pixels(`/resize/50x40/watermark:${await preset(file)}/f/grey`);
      weights.push(renderRequestSchema.parse(calls.mock.lastCall?.[1]).cost_ms);
    }
    const [light = 0, heavy = 0] = weights;
    expect(light).toBeLessThan(20);
    expect(heavy).toBeGreaterThan(400);
  });

  it('counts only the raster grid of an SVG', async () => {
    const calls = vi.spyOn(host.queue, 'call');
    const svg = await drawing('drawn', [[20, 10, PINK]]);
    await pixels(`/resize/50x40/watermark:${await preset(svg)}/f/grey`);
    expect(renderRequestSchema.parse(calls.mock.lastCall?.[1]).cost_ms).toBeLessThan(20);
  });
});

it('an SVG watermark is drawn from its grid if its mezzanine is just as wide', async () => {
  const svg = await drawing('narrow', [
    [5, 20, GREY],
    [5, 40, PINK],
  ]);
  const { at } = await pixels(`/watermark:${await preset(svg)}/f/grey`);
  expect([at(2, 2), at(4, 39)]).toEqual([PINK, PINK]);
});

/** An SVG as it is stored: smaller images first, then its full grid, each in one color. */
async function drawing(
  file_slug: string,
  images: [width: number, height: number, color: number[]][],
): Promise<FileRow> {
  const stored = images.map(async ([width, height, [r = 0, g = 0, b = 0]]) => {
    const create = { width, height, channels: 3 as const, background: { r, g, b } };
    const bytes = await sharp({ create }).png().toBuffer();
    const object_key = `${project.project_id}/${file_slug}-${height}`;
    await host.content.write(object_key, bytes, { content_type: 'image/png' });
    const long_edge = Math.max(width, height);
    const of = { object_key, content_type: 'image/png', size_bytes: bytes.length };
    return { long_edge, width, height, ...of };
  });
  const [width, height] = images.at(-1) ?? [1, 1];
  const bytes = Buffer.from('<svg/>');
  const image = { bytes, width, height, content_type: 'image/svg+xml' as const };
  return publishImage({ db, content: host.content }, project, {
    image,
    file_slug,
    mezzanines: await Promise.all(stored),
  });
}

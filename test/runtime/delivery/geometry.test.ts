// The geometry table over HTTP, with real files and renders. Spec: Delivery host, Output rules 1 to 4.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type RenderRequest,
  renderRequestSchema,
} from '../../../runtime/core/delivery/render-request.ts';
import type { StoredType } from '../../../runtime/core/image/formats.ts';
import type { NewRevision } from '../../../runtime/db/file-revisions.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import { type Queue, QueueBusy } from '../../../runtime/platform/queue/queue.ts';
import table from '../../spec/geometry.json' with { type: 'json' };
import { readSource } from '../../spec/geometry-rules.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let project: ProjectRow;
const published = new Map<string, string>();

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  project = await makeProject(db);
});
afterAll(() => host.close());

/** Slow renders: drawn for one case of each rule only. */
const LARGE_RENDERS = [
  'jpeg 4096x4096: resize/4096x4097',
  'jpeg 1000x1000: resize/4000x4000',
  'jpeg 4001x3000: resize/2049x2048',
  'jpeg 4096x4096: resize/4000x3001/format/avif',
  'avif 4001x3000: quality/60',
  'webp 4001x3000: format/jpeg',
  'webp 4000x3000: format/jpeg',
  'jpeg 9000x1000: quality/50',
];
const EASY_PIXELS = 1_000_000;

type Case = { rule: string; source: string; chain: string; gives: string };

const cases: Case[] = table.rules.flatMap(({ rule, cases: rows }) =>
  rows.map(([source = '', chain = '', gives = '']) => ({ rule, source, chain, gives })),
);
const isLarge = ({ source, chain }: Case) => LARGE_RENDERS.includes(`${source}: ${chain}`);
const isSmall = (row: Case) => row.gives === '404' || isEasy(row);
/** These are rendered, and their pixels checked. */
const sample = cases.filter((row) => isLarge(row) || isSmall(row));
/** For all others, only the render request is checked. */
const others = cases.filter((row) => !isLarge(row) && !isSmall(row));

function isEasy({ source, gives }: Case): boolean {
  if (gives === '404') return false;
  const { width, height } = sizesOf(gives).output;
  const { width: across, height: down } = readSource(source);
  return width * height < EASY_PIXELS && across * down < EASY_PIXELS;
}

describe('the rendered cases of the geometry table', () => {
  it('number at least 60 and cover every rule that has small cases', () => {
    expect(sample.length).toBeGreaterThanOrEqual(60);
    const rules = [...new Set(cases.filter(isSmall).map(({ rule }) => rule))];
    expect(rules.filter((rule) => sample.every((row) => row.rule !== rule))).toEqual([]);
  });

  it.each(sample)('$chain of $source gives $gives', async ({ source, chain, gives }) => {
    const slug = await publish(source, gives);
    const answer = await host.get(project.project_slug, `/${chain}/f/${slug}`);
    if (gives === '404') {
      expect([answer.status, answer.code]).toEqual([404, 'not_found']);
      return;
    }
    const { window, output } = sizesOf(gives);
    const { width, height } = await sharp(answer.body).metadata();
    expect({ status: answer.status, width, height }).toEqual({ status: 200, ...output });
    await expectMiddle(answer.body, { source, window, output });
  });
});

describe('the remaining cases of the geometry table', () => {
  const asked: RenderRequest[] = [];
  let undrawn: DeliveryHost;
  beforeAll(async () => {
    const call: Queue['call'] = async (name, request) => {
      asked.push(renderRequestSchema.parse(request));
      throw new QueueBusy(name, 1);
    };
    const queue = { ...createInProcessQueue(), call };
    undrawn = await startDeliveryHost({ db, wall_clock_ms: 0, queue });
  });
  afterAll(() => undrawn.close());

  it.each(others)(
    '$chain of $source requests a render of $gives',
    async ({ source, chain, gives }) => {
      const slug = await publish(source, '404');
      const { code } = await undrawn.get(project.project_slug, `/${chain}/f/${slug}`);
      const { window, output } = asked.at(-1)?.plan ?? {};
      expect({ code, window, output }).toEqual({ code: 'busy', ...sizesOf(gives) });
    },
  );

  it('cover the whole table together with the rendered ones', () => {
    expect(sample.length + others.length).toBe(cases.length);
    expect(cases.length).toBeGreaterThanOrEqual(413);
  });
});

function sizesOf(gives: string) {
  const numbers = (gives.match(/\d+/g) ?? []).map(Number);
  const [width = 0, height = 0, x = 0, y = 0, across = 0, down = 0] = numbers;
  return { window: { x, y, width, height }, output: { width: across, height: down } };
}

/** Colors encode positions in the source, so the center pixel shows which window was read. */
async function expectMiddle(
  body: Buffer,
  { source, window, output }: ReturnType<typeof sizesOf> & { source: string },
): Promise<void> {
  const isExact = Math.min(output.width, output.height, window.width, window.height) >= 16;
  if (!isExact || source.startsWith('gif')) return;
  const { width, height } = readSource(source);
  const middle = {
    left: Math.floor(output.width / 2),
    top: Math.floor(output.height / 2),
    width: 1,
    height: 1,
  };
  const [red = 0, green = 0] = await sharp(body).removeAlpha().extract(middle).raw().toBuffer();
  const at = (start: number, side: number, whole: bigint) =>
    ((start + side / 2) / Number(whole)) * 255;
  expect(Math.abs(red - at(window.x, window.width, width))).toBeLessThan(8);
  expect(Math.abs(green - at(window.y, window.height, height))).toBeLessThan(8);
}

/** Publishes each source once. If no response needs pixels (`404`), one pixel is stored. */
async function publish(source: string, gives: string): Promise<string> {
  const name = `${source}${gives === '404' ? ' row' : ''}`;
  const slug = published.get(name) ?? `file${published.size}`;
  if (published.has(name)) return slug;
  published.set(name, slug);
  const { type, is_lossless, has_alpha, width, height, focus } = readSource(source);
  const [focal_x = 0.5, focal_y = 0.5] = focus.map(
    ({ top, bottom }) => Number(top) / Number(bottom),
  );
  const size = { width: Number(width), height: Number(height) };
  const stored = type === 'svg' ? 'png' : type;
  const bytes = await draw(gives === '404' ? { width: 1, height: 1 } : size, stored);
  const content_type = `image/${type === 'svg' ? 'svg+xml' : type}` as StoredType;
  const settings: Partial<NewRevision> = { is_lossless, has_alpha, focal_x, focal_y };
  if (type === 'svg') settings.mezzanines = [await grid(slug, size, bytes)];
  const image = { bytes, ...size, content_type };
  await publishImage({ db, content: host.content }, project, {
    image,
    file_slug: slug,
    ...settings,
  });
  return slug;
}

/** Red increases from left to right, green from top to bottom. */
async function draw({ width, height }: { width: number; height: number }, type: string) {
  const pixels = Buffer.alloc(width * height * 3);
  const reds = Array.from({ length: width }, (_, x) => Math.floor(((x + 0.5) / width) * 255));
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    const green = Math.floor(((y + 0.5) / height) * 255);
    for (const red of reds) {
      pixels[at] = red;
      pixels[at + 1] = green;
      at += 3;
    }
  }
  const picture = sharp(pixels, { raw: { width, height, channels: 3 }, limitInputPixels: false });
  if (type === 'jpeg') return picture.jpeg({ quality: 95 }).toBuffer();
  if (type === 'avif') return picture.avif({ effort: 0 }).toBuffer();
  if (type === 'gif') return picture.gif({ effort: 1 }).toBuffer();
  return type === 'webp'
    ? picture.webp({ effort: 0, quality: 95 }).toBuffer()
    : picture.png({ compressionLevel: 1 }).toBuffer();
}

async function grid(slug: string, size: { width: number; height: number }, bytes: Buffer) {
  const object_key = `${project.project_id}/${slug}/grid`;
  await host.content.write(object_key, bytes, { content_type: 'image/png' });
  const long_edge = Math.max(size.width, size.height);
  return { ...size, long_edge, object_key, content_type: 'image/png', size_bytes: bytes.length };
}

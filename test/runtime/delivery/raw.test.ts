import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoredType } from '../../../runtime/core/image/formats.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { tagsOf } from '../../contract/support/tools.ts';
import { CAMERA_TAGS, tagged } from '../../support/camera.ts';
import { useDatabase } from '../../support/database.ts';
import { useDecoder } from '../../support/decoder.ts';
import { change, makeWatermark, publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { cutOut, over, photograph, psnr } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const decoder = useDecoder();
let host: DeliveryHost;
let project: ProjectRow;

beforeAll(async () => {
  host = await startDeliveryHost({ db, wall_clock_ms: 0 });
});
afterAll(() => host.close());
beforeEach(async () => {
  project = await makeProject(db);
  await change(db, project, { raw_download_enabled: true });
});

const PATH = '/download/raw/f/cat';
const get = (headers: Record<string, string> = {}, method = 'GET') =>
  host.get(project.project_slug, PATH, { headers, method });

/** Stores an upload as the worker does. */
async function store(upload: Buffer, type: string) {
  const result = await decoder.ingest(upload, type);
  const write = async (name: string, bytes: Buffer) => {
    const key = `masters/${project.project_id}/upl/${name}`;
    await host.content.write(key, bytes, { content_type: 'application/octet-stream' });
    return key;
  };
  const metadata: Record<string, string> = {};
  for (const [kind, block] of Object.entries(result.metadata)) {
    metadata[kind] = await write(kind, block);
  }
  const { master, width, height, has_alpha, native } = result;
  await publishImage({ db, content: host.content }, project, {
    image: { bytes: master, width, height, content_type: result.content_type as StoredType },
    file_slug: 'cat',
    original_filename: 'My "best" cät.tiff',
    has_alpha,
    metadata,
    raw_object_key: native === null ? null : await write('native', native),
  });
  return result;
}

const photo = () => over(photograph(400, 300));
const encoders: Record<string, () => Sharp> = {
  jpg: () => photo().jpeg({ quality: 90 }),
  png: () => photo().png(),
  webp: () => photo().webp({ quality: 85 }),
};
const lossless = () => photo().webp({ lossless: true });
const transparent = () => over(cutOut(120, 90)).webp({ quality: 85 });
const typeOf = (extension: string) => `image/${extension === 'jpg' ? 'jpeg' : extension}`;
const pixels = (bytes: Buffer) => sharp(bytes).raw().toBuffer();

/** The image's metadata as ExifTool reads it, without facts about the file itself. */
async function said(bytes: Buffer): Promise<Record<string, unknown>> {
  const all = Object.entries(await tagsOf(bytes));
  return Object.fromEntries(all.filter(([name]) => /^(EXIF|XMP|Composite):/.test(name)));
}

describe('a raw download', () => {
  it.each(Object.keys(encoders))(
    'of %s is upright and has the metadata of its upload',
    async (extension) => {
      const upload = await tagged(
        await (encoders[extension] as () => Sharp)().toBuffer(),
        extension,
      );
      const { master } = await store(upload, typeOf(extension));
      const { status, body, headers } = await get();
      expect([status, headers['content-type']]).toEqual([200, typeOf(extension)]);
      const [before, after] = [await said(upload), await said(body)];
      expect(after).toMatchObject({
        'EXIF:Make': 'Tintype',
        'EXIF:ExposureTime': '1/125',
        'EXIF:DateTimeOriginal': '2024:05:06 07:08:09',
        'EXIF:UserComment': 'a comment',
        'Composite:GPSPosition': before['Composite:GPSPosition'],
        'EXIF:Orientation': 'Horizontal (normal)',
        'XMP:Title': 'Harbour',
        'XMP:Subject': ['sea', 'boats & "sails" <tall>'],
        'XMP:Orientation': 'Horizontal (normal)',
        'XMP:City': 'Sydney',
      });
      const lost = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
      const editors = [
        'XMP:DocumentID',
        'XMP:Exposure2012',
        'XMP:XMPToolkit',
        'EXIF:YCbCrPositioning',
      ];
      expect(lost.filter((name) => !editors.includes(name))).toEqual([]);
      expect(await pixels(body)).toEqual(await pixels(master));
      expect((await sharp(body).metadata()).autoOrient).toMatchObject({ width: 300, height: 400 });
    },
  );

  it('of a TIFF is a PNG with the metadata of its upload', async () => {
    await store(await tagged(await photo().tiff().toBuffer(), 'tiff'), 'image/tiff');
    const { body, headers } = await get();
    expect(headers['content-type']).toBe('image/png');
    expect(await said(body)).toMatchObject({
      'EXIF:Model': 'Plate 1',
      'EXIF:FNumber': 5.6,
      'EXIF:Orientation': 'Horizontal (normal)',
      'EXIF:GPSLatitudeRef': 'South',
      'XMP:Title': 'Harbour',
    });
  });

  it.each([
    ['lossless WebP', lossless],
    ['WebP with alpha', transparent],
  ])('of %s keeps every pixel', async (_what, make) => {
    const upload = await tagged(await make().toBuffer(), 'webp', CAMERA_TAGS.slice(0, 2));
    const { master } = await store(upload, 'image/webp');
    const { body } = await get();
    expect(await pixels(body)).toEqual(await pixels(master));
    expect((await said(body))['EXIF:Make']).toBe('Tintype');
    expect((await sharp(body).metadata()).hasAlpha).toBe((await sharp(master).metadata()).hasAlpha);
  });

  it('of another color space keeps its own pixels and color profile', async () => {
    const upload = await photo().withIccProfile('p3').jpeg({ quality: 90 }).toBuffer();
    const { master, native } = await store(upload, 'image/jpeg');
    const { body } = await get();
    const { icc } = await sharp(body).metadata();
    expect(icc?.toString('latin1', 36, 40)).toBe('acsp');
    expect((await tagsOf(body))['ICC_Profile:ProfileDescription']).toBe(
      (await tagsOf(upload))['ICC_Profile:ProfileDescription'],
    );
    const own = (bytes: Buffer) => sharp(bytes, { ignoreIcc: true }).raw().toBuffer();
    expect(await own(body)).toEqual(await own(native as Buffer));
    const converted = (bytes: Buffer) => sharp(bytes).toColourspace('srgb').raw().toBuffer();
    expect(psnr(await converted(body), await converted(master))).toBeGreaterThan(35);
  });

  it('is an uncached attachment under its original filename, metered twofold', async () => {
    await store(await tagged(await photo().jpeg().toBuffer(), 'jpg'), 'image/jpeg');
    const { headers, body } = await get();
    expect(headers).toMatchObject({
      'cache-control': 'private, no-store',
      'content-disposition': `attachment; filename="cat.jpg"; filename*=UTF-8''My%20_best_%20c%C3%A4t.jpg`,
      'content-length': String(body.length),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect(headers).not.toHaveProperty('etag');
    await host.meter.flush();
    const rows = await db.query<{ bytes: number; credits: number; transforms: number }>(
      'select bytes, credits, transforms from usage_batch_rows where project_id = $1',
      [project.project_id],
    );
    const credits = Math.max(1, Math.ceil((2 * body.length) / 1_048_576));
    expect(rows).toEqual([{ bytes: body.length, credits, transforms: 0 }]);
  });

  it('is the stored image unchanged if the upload had no metadata, without the default watermark', async () => {
    await store(await photo().jpeg().toBuffer(), 'image/jpeg');
    const white = { width: 200, height: 100, channels: 3 as const, background: '#ffffff' };
    const bytes = await sharp({ create: white }).png().toBuffer();
    const mark = await publishImage({ db, content: host.content }, project, {
      image: { bytes, width: 200, height: 100, content_type: 'image/png' },
      file_slug: 'mark',
    });
    const default_watermark_preset_id = await makeWatermark(db, project, mark);
    await change(db, project, { default_watermark_preset_id });
    const { body } = await get();
    expect(body.equals((await host.content.read((await keyOfMaster()) ?? '')) as Buffer)).toBe(
      true,
    );
  });

  it.each(Object.keys(encoders))('of %s can be fetched in byte ranges', async (extension) => {
    const upload = await tagged(await (encoders[extension] as () => Sharp)().toBuffer(), extension);
    await store(upload, typeOf(extension));
    const { body } = await get();
    const cuts = [0, 1, 40, 600, Math.floor(body.length / 2), body.length - 700, body.length];
    const parts = [];
    for (const [at, start] of cuts.slice(0, -1).entries()) {
      const part = await get({ range: `bytes=${start}-${(cuts[at + 1] ?? 0) - 1}` });
      expect(part.status).toBe(206);
      parts.push(part.body);
    }
    expect(Buffer.concat(parts).equals(body)).toBe(true);
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers['content-length']]).toEqual([200, String(body.length)]);
  });

  it('has exact byte ranges around the end of the image data', async () => {
    await store(await tagged(await photo().webp().toBuffer(), 'webp'), 'image/webp');
    const { body } = await get();
    const behindAt = body.indexOf('EXIF');
    expect(behindAt).toBeGreaterThan(0);
    for (const end of [behindAt - 1, behindAt, behindAt + 1]) {
      for (const start of [behindAt - 20, end]) {
        const part = await get({ range: `bytes=${start}-${end}` });
        expect([part.status, part.body]).toEqual([206, body.subarray(start, end + 1)]);
      }
    }
  });

  it('of a format that cannot carry metadata is refused with raw_unavailable', async () => {
    await store(await photo().avif({ effort: 0 }).toBuffer(), 'image/avif');
    expect((await get()).code).toBe('raw_unavailable');
  });

  it('is not_found while raw downloads are disabled for the project', async () => {
    await store(await photo().jpeg().toBuffer(), 'image/jpeg');
    await change(db, project, { raw_download_enabled: false });
    host.clock.advance(31);
    expect((await get()).code).toBe('not_found');
  });
});

async function keyOfMaster(): Promise<string | undefined> {
  const [row] = await db.query<{ object_key: string }>(
    'select object_key from file_revisions join files using (file_id) where project_id = $1 and file_slug = $2',
    [project.project_id, 'cat'],
  );
  return row?.object_key;
}

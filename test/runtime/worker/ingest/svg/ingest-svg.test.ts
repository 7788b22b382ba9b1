import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { IngestRefusal } from '../../../../../runtime/worker/ingest/ingest-refusal.ts';
import { rasterGrid } from '../../../../../runtime/worker/ingest/svg/raster-grid.ts';
import { useDecoder } from '../../../../support/decoder.ts';
import { psnr } from '../../../../support/pictures.ts';

const decoder = useDecoder();
const svg = (content: string, size = 'width="200" height="100"') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${size}>${content}</svg>`);
const half = '<rect width="100" height="100" fill="#ff0000"/>';
const ingest = (bytes: Buffer) => decoder.ingest(bytes, 'image/svg+xml');
const refusal = (bytes: Buffer) => decoder.refusal(bytes, 'image/svg+xml');

describe('ingesting an SVG', () => {
  it('stores the sanitized vector, and draws PNG mezzanine images of its raster grid', async () => {
    const result = await ingest(svg(`<script>alert(1)</script>${half}`));
    expect(result.master.toString()).toBe(svg(half).toString());
    expect(result).toMatchObject({
      content_type: 'image/svg+xml',
      width: 2048,
      height: 1024,
      has_alpha: true,
      is_lossless: true,
      native: null,
      metadata: {},
      location: null,
      taken_at: null,
    });
    const sizes = result.mezzanines.map(({ long_edge, width, height, content_type }) => [
      long_edge,
      width,
      height,
      content_type,
    ]);
    expect(sizes).toEqual([
      [2048, 2048, 1024, 'image/png'],
      [1024, 1024, 512, 'image/png'],
      [720, 720, 360, 'image/png'],
    ]);
  });

  it('recognizes an SVG behind a long license comment', async () => {
    const licence = `<?xml version="1.0"?><!-- ${'Licence. '.repeat(1000)}-->`;
    const { master } = await ingest(Buffer.concat([Buffer.from(licence), svg(half)]));
    expect(master.toString()).toBe(svg(half).toString());
  });

  it('rejects an element name of 100,000 letters with decode_failed and a short detail', async () => {
    const open = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><${'a'.repeat(100_000)}>`);
    const error = await ingest(open).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'decode_failed' });
    expect((error as IngestRefusal).detail.length).toBeLessThanOrEqual(500);
  });

  it.each([
    ['with a byte order mark', '\ufeff'],
    ['with a byte order mark and a declaration', '\ufeff<?xml version="1.0" encoding="UTF-16"?>'],
    ['with only a declaration', '<?xml version="1.0" encoding="UTF-16"?>'],
  ])('stores UTF-16 %s as sanitized UTF-8', async (_name, begin) => {
    const document = `${begin}${svg(`<title>häuser 🏠</title><script>1</script>${half}`)}`;
    const [little, big] = [
      Buffer.from(document, 'utf16le'),
      Buffer.from(document, 'utf16le').swap16(),
    ];
    for (const bytes of [little, big]) {
      const { master, width, height } = await ingest(bytes);
      expect(master.toString()).toBe(svg(`<title>häuser 🏠</title>${half}`).toString());
      expect([width, height]).toEqual([2048, 1024]);
      // Half a surrogate pair, and half a code unit.
      expect(await refusal(Buffer.concat([bytes, Buffer.from([0, 0xd8])]))).toBe('decode_failed');
      expect(await refusal(bytes.subarray(0, -1))).toBe('decode_failed');
    }
  });

  it('draws the grid as the SVG looks at that size, with transparency', async () => {
    const content =
      '<circle cx="80" cy="50" r="40" fill="#00f" fill-opacity=".5"/><path d="M0 0L200 100" stroke="#000"/>';
    const { mezzanines } = await ingest(svg(content));
    const expected = await sharp(svg(content, 'width="2048" height="1024" viewBox="0 0 200 100"'))
      .ensureAlpha()
      .raw()
      .toBuffer();
    const grid = mezzanines[0]?.bytes ?? Buffer.alloc(0);
    expect((await sharp(grid).metadata()).hasAlpha).toBe(true);
    expect(psnr(await sharp(grid).raw().toBuffer(), expected)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ['millimetres', 'width="40mm" height="20mm"', 'width="20mm" height="20mm"'],
    ['inches with a size in pixels', 'width="192" height="96"', 'width="1in" height="1in"'],
    ['points with a viewBox', 'viewBox="0 0 96 48"', 'width="36pt" height="36pt"'],
    ['ems of the default font size', 'viewBox="0 0 64 32"', 'width="2em" height="2em"'],
    [
      'ems of a CSS font size keyword',
      'viewBox="0 0 64 32" style="font-size:medium"',
      'width="2em" height="2em"',
    ],
  ])('draws lengths in %s as large as browsers do', async (_name, size, half) => {
    const { mezzanines } = await ingest(svg(`<rect ${half} fill="#f00"/>`, size));
    const { data, info } = await sharp(mezzanines[0]?.bytes)
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 2048, height: 1024, channels: 4 });
    const row = 4 * 2048 * 512;
    expect([1023, 1024].map((column) => data[row + 4 * column + 3])).toEqual([255, 0]);
  });

  it('reports exactly the size of the raster grid, whatever the size of the SVG', async () => {
    const side = fc.integer({ min: 3, max: 5000 });
    const check = async (width: number, height: number) => {
      const bytes = svg('', `width="${width}" height="${height}"`);
      const size = rasterGrid({ width, height });
      expect(await ingest(bytes)).toMatchObject(size);
    };
    await fc.assert(fc.asyncProperty(side, side, check), { numRuns: 40 });
  });

  it('reports a drawing that covers everything as opaque, with its dominant color', async () => {
    const { has_alpha, dominant_color } = await ingest(
      svg('<rect width="200" height="100" fill="#f80808"/>'),
    );
    expect([has_alpha, dominant_color]).toEqual([false, '#f80808']);
  });

  it('accepts a line and a large drawing', async () => {
    const line = await ingest(svg(half, 'width="1000000" height="1"'));
    expect([line.width, line.height]).toEqual([16_383, 1]);
    const large = await ingest(svg(half, 'width="9000" height="3000"'));
    expect(large.width * large.height).toBeLessThanOrEqual(2048 * 2048);
    expect(large.mezzanines.map(({ width }) => width)).toEqual([large.width, 2048, 1024, 720]);
  });

  it.each([
    ['compressed', gzipSync(svg(half)), 'unsupported_media_type'],
    ['another type', Buffer.from('GIF89a'), 'unsupported_media_type'],
    ['a bitmap in it', svg('<image href="data:image/png;base64,AA"/>'), 'unsupported_media_type'],
    [
      'a DOCTYPE',
      Buffer.concat([Buffer.from('<!DOCTYPE svg>'), svg(half)]),
      'unsupported_media_type',
    ],
    ['cut off', svg(half).subarray(0, 80), 'decode_failed'],
    ['no size', svg(half, ''), 'decode_failed'],
    ['too complex', svg('<g>'.repeat(70) + '</g>'.repeat(70)), 'image_too_large'],
  ])('rejects an unacceptable file: %s', async (_, bytes, code) => {
    expect(await refusal(bytes)).toBe(code);
  });

  it('rejects an SVG declared as PNG, and a PNG declared as SVG', async () => {
    expect(await decoder.refusal(svg(half), 'image/png')).toBe('unsupported_media_type');
    const png = await sharp(svg(half)).png().toBuffer();
    expect(await refusal(png)).toBe('unsupported_media_type');
  });
});

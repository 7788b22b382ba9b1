import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import { cutOut, drawing, over, photograph } from '../../../support/pictures.ts';

const GIF = 'image/gif';
const decoder = useDecoder();
const rgba = (bytes: Buffer) => sharp(bytes).ensureAlpha().raw().toBuffer();

describe('sanitizing a GIF', () => {
  it.each([
    ['a drawing', drawing(300, 200), false],
    ['a photograph', photograph(300, 200), false],
    ['a cut-out', cutOut(200, 200), true],
  ] as const)('keeps every pixel of %s, and its format', async (_, picture, isTransparent) => {
    const upload = await over(picture).gif().toBuffer();
    const result = await decoder.ingest(upload, GIF);
    const { width, height } = picture;
    expect(result).toMatchObject({ content_type: GIF, width, height, native: null, metadata: {} });
    if (isTransparent) expect(result.has_alpha).toBe(true);
    expect((await rgba(result.master)).equals(await rgba(upload))).toBe(true);
  });

  it('strips its comment', async () => {
    const plain = await over(drawing(64, 64)).gif().toBuffer();
    const comment = Buffer.concat([Buffer.from([0x21, 0xfe, 6]), Buffer.from('secret\0')]);
    const at = 13 + (3 << (((plain[10] ?? 0) & 7) + 1));
    const upload = Buffer.concat([plain.subarray(0, at), comment, plain.subarray(at)]);
    const { master } = await decoder.ingest(upload, GIF);
    expect(master.includes('secret')).toBe(false);
    expect((await rgba(master)).equals(await rgba(plain))).toBe(true);
  });

  it('uses the size of the picture if the screen is smaller', async () => {
    const upload = await over(drawing(96, 64)).gif().toBuffer();
    upload.writeUInt16LE(8, 6);
    upload.writeUInt16LE(8, 8);
    expect(await decoder.ingest(upload, GIF)).toMatchObject({ width: 96, height: 64 });
  });

  it('accepts a file without its last byte', async () => {
    const upload = await over(drawing(96, 64)).gif().toBuffer();
    const { master } = await decoder.ingest(upload.subarray(0, -1), GIF);
    expect((await rgba(master)).equals(await rgba(upload))).toBe(true);
  });

  it('makes PNG mezzanine images of a drawing', async () => {
    const upload = await over(drawing(1200, 800)).gif().toBuffer();
    const { mezzanines } = await decoder.ingest(upload, GIF);
    expect(mezzanines.map((one) => one.content_type)).toEqual(['image/png', 'image/png']);
  });
});

describe('sanitizing an unacceptable GIF', () => {
  it('rejects a second frame with animated_not_supported', async () => {
    const frames = await Promise.all([1, 2].map((seed) => frame(seed)));
    const upload = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    expect(await decoder.refusal(upload, GIF)).toBe('animated_not_supported');
  });

  it('rejects a screen or picture above the limit with image_too_large', async () => {
    const [screen, picture] = [await frame(1), await frame(1)];
    screen.writeUInt16LE(65_535, 6);
    screen.writeUInt16LE(65_535, 8);
    const at = picture.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
    picture.writeUInt16LE(65_535, at + 5);
    picture.writeUInt16LE(65_535, at + 7);
    for (const bytes of [screen, picture]) {
      expect(await decoder.refusal(bytes, GIF)).toBe('image_too_large');
    }
  });

  it('rejects a missing, empty or unknown picture with decode_failed', async () => {
    const whole = await frame(1);
    const at = whole.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
    const none = Buffer.concat([whole.subarray(0, at), Buffer.from([0x3b])]);
    const [empty, odd, unknown] = [Buffer.from(whole), Buffer.from(whole), Buffer.from(whole)];
    empty.writeUInt16LE(0, at + 5);
    const palette = (whole[at + 9] ?? 0) & 0x80 ? 3 << (((whole[at + 9] ?? 0) & 7) + 1) : 0;
    odd.writeUInt8(13, at + 10 + palette);
    unknown.writeUInt8(0x2d, at);
    for (const bytes of [none, empty, odd, unknown]) {
      expect(await decoder.refusal(bytes, GIF)).toBe('decode_failed');
    }
  });
});

function frame(seed: number): Promise<Buffer> {
  return over(photograph(40, 30, seed))
    .gif()
    .toBuffer();
}

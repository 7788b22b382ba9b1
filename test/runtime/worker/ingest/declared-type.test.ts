// An upload must have the type that was declared, tested for every pair of types. Files of other types are rejected
// whatever was declared. Spec: Processing error codes, unsupported_media_type.
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { formats } from '../../../../runtime/core/image/formats.ts';
import { box } from '../../../support/avif.ts';
import { printBmp } from '../../../support/bmp.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { over, photograph } from '../../../support/pictures.ts';

const decoder = useDecoder();
const types = formats.map(({ content_type }) => content_type);
const photo = photograph(40, 30);
const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>',
);
const sound = new Map<string, Buffer>();

beforeAll(async () => {
  for (const name of ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const) {
    sound.set(`image/${name}`, await over(photo).toFormat(name).toBuffer());
  }
  sound.set('image/bmp', printBmp({ width: 8, height: 8, pixelAt: () => 7 }, { bits: 24 }));
  sound.set('image/svg+xml', SVG);
});

const pairs = types.flatMap((is) => types.map((declared) => [is, declared] as const));

it.each(pairs)(
  'an upload of type %s declared as %s is accepted only if both types are equal',
  async (is, declared) => {
    const bytes = sound.get(is) ?? expect.fail(is);
    const refusal = await decoder.refusal(bytes, declared);
    expect(refusal).toBe(is === declared ? undefined : 'unsupported_media_type');
  },
);

const brands = (major: string, ...others: string[]) =>
  Buffer.concat([
    box('ftyp', Buffer.from(major), Buffer.alloc(4), Buffer.from(others.join(''))),
    box('meta', Buffer.alloc(4)),
  ]);

it.each([
  ['HEIC', () => brands('heic', 'mif1', 'heic')],
  ['HEIC with a generic brand', () => brands('mif1', 'heic')],
  ['HEIC with several images', () => brands('hevc', 'msf1')],
  ['a video', () => brands('isom', 'mp42', 'avc1')],
  ['a compressed SVG', () => gzipSync(SVG)],
  ['JPEG XL', () => Buffer.from('0000000c4a584c200d0a870a', 'hex')],
  ['JPEG XL without a container', () => Buffer.from('ff0a7f', 'hex')],
  ['JPEG 2000', () => Buffer.from('0000000c6a5020200d0a870a', 'hex')],
  ['a PDF', () => Buffer.from('%PDF-1.7\n%%EOF')],
  ['PostScript', () => Buffer.from('%!PS-Adobe-3.0\n')],
  ['a Photoshop document', () => Buffer.from('8BPS\0\x01', 'latin1')],
  ['an icon', () => Buffer.from('00000100010010100000', 'hex')],
  ['a ZIP', () => Buffer.from('PK\x03\x04')],
  ['HTML', () => Buffer.from('<!doctype html><img src=x>')],
  ['text', () => Buffer.from('no image at all')],
  ['nothing', () => Buffer.alloc(0)],
])('an unsupported format (%s) is rejected whatever type is declared', async (_name, print) => {
  for (const declared of types) {
    const refusal = await decoder.refusal(print(), declared);
    expect(refusal, declared).toBe('unsupported_media_type');
  }
});

// Independent programs check everything delivered: ImageMagick checks size and format, and ExifTool checks that no
// metadata of the source is left. Spec: Output rules.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { soundSources } from '../support/hostile-sources.ts';
import { complaintsAbout, type Stored } from '../support/judges.ts';
import { over, pngChunk, quarters } from '../support/pictures.ts';
import { type Caller, deliver, withKey } from './support/client.ts';
import { removeFolder, startTintype, type Tintype } from './support/tintype.ts';
import { identify, pixelsAt, tagsOf } from './support/tools.ts';
import { upload } from './support/upload.ts';

const WIDTH = 240;
const HEIGHT = 160;
const ORIENTATIONS = [1, 2, 3, 4, 5, 6, 7, 8];

const formats = {
  jpeg: { format: 'JPEG', content_type: 'image/jpeg' },
  png: { format: 'PNG', content_type: 'image/png' },
  webp: { format: 'WEBP', content_type: 'image/webp' },
} as const;
type Format = keyof typeof formats;

const derived = [
  ['originals', undefined],
  ['resize/90x60', undefined],
  ['format/png', 'PNG'],
  ['format/webp', 'WEBP'],
  ['format/avif', 'AVIF'],
  ['format/jpeg', 'JPEG'],
] as const;

// Tag groups that describe the container and its encoding. EXIF, XMP, IPTC, ICC, maker notes and
// comments must be gone.
const CODING = /^(ExifTool|File|Composite|JFIF|PNG|RIFF|QuickTime):/;
const METADATA =
  /^(File:Comment|File:ExifByteOrder|PNG:(.*Text|Comment|ICC|Profile|Exif|ModifyDate|Author|Software).*|RIFF:(Exif|XMP|ICC).*)/i;

/** An image of four colors with every kind of metadata. */
async function source(format: Format, orientation: number): Promise<Buffer> {
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:title="secret"/></rdf:RDF></x:xmpmeta>`;
  const bytes = await over(quarters(WIDTH, HEIGHT))
    .toFormat(format, format === 'webp' ? { lossless: true } : {})
    .withIccProfile('p3')
    .withExif({
      IFD0: { Make: 'Tintype', Artist: 'Somebody', ImageDescription: 'at home' },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '52/1 31/1 0/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '13/1 24/1 0/1',
      },
    })
    .withXmp(xmp)
    .withMetadata({ orientation, icc: 'p3' })
    .toBuffer();
  return withComment(format, bytes);
}

const colors: Record<string, string> = { '100': 'R', '010': 'G', '001': 'B', '111': 'W' };

/**
 * The corner colors, row by row, after each EXIF orientation is applied to an image with the
 * corners RGBW.
 */
const upright: Record<number, string> = {
  1: 'RGBW',
  2: 'GRWB',
  3: 'WBGR',
  4: 'BWRG',
  5: 'RBGW',
  6: 'BRWG',
  7: 'WGBR',
  8: 'GWRB',
};

/** Inserts a comment, in formats that have comments. */
function withComment(format: Format, bytes: Buffer): Buffer {
  const text = Buffer.from('Comment\0a secret', 'latin1');
  const [at, part] = {
    jpeg: [2, Buffer.concat([Buffer.from([0xff, 0xfe, 0, text.length + 2]), text])] as const,
    png: [8 + 12 + 13, pngChunk('tEXt', text)] as const,
    webp: [bytes.length, Buffer.alloc(0)] as const,
  }[format];
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]);
}

let tintype: Tintype;
let key: Caller;

beforeAll(async () => {
  tintype = await startTintype();
  key = withKey(tintype, tintype.instance.api_key);
});

afterAll(async () => {
  await tintype?.end('SIGTERM');
  await removeFolder(tintype.data);
});

describe.each(Object.keys(formats) as Format[])('a %s with metadata', (name) => {
  const { format, content_type } = formats[name];

  it('has EXIF, XMP and ICC metadata before its upload', async () => {
    const tags = Object.keys(await tagsOf(await source(name, 6)));
    const kinds = ['EXIF:Orientation', 'EXIF:GPSLatitude', 'XMP:Title', 'ICC_Profile:'];
    const comment = { jpeg: ['File:Comment'], png: ['PNG:Comment'], webp: [] }[name];
    for (const kind of [...kinds, ...comment]) {
      expect([kind, tags.some((tag) => tag.startsWith(kind))]).toEqual([kind, true]);
    }
  });

  it.each(ORIENTATIONS)(
    'and orientation %i is delivered upright and without metadata',
    async (orientation) => {
      const bytes = await source(name, orientation);
      const file_slug = `${name}-${orientation}`;
      const session = await upload(key, 'demo', { bytes, content_type, file_slug });
      expect(session.status).toBe('ready');
      const [width, height] = orientation < 5 ? [WIDTH, HEIGHT] : [HEIGHT, WIDTH];
      const file = await key('GET', `/v1/projects/demo/files/${file_slug}`);
      expect(file.body).toMatchObject({ width, height, content_type });
      const chains = orientation === 6 ? derived : derived.slice(0, 1);
      for (const [chain, as = format] of chains) {
        const size = chain.startsWith('resize') ? { width: 90, height: 60 } : { width, height };
        const path = `/${chain}/f/${file_slug}`;
        const image = await deliver(tintype, { project: 'demo', path });
        expect([chain, await identify(image.bytes)]).toEqual([chain, { format: as, ...size }]);
        expect([chain, await metadataOf(image.bytes)]).toEqual([chain, []]);
      }
      const path = `/originals/f/${file_slug}`;
      const original = await deliver(tintype, { project: 'demo', path });
      expect(await cornersOf(original.bytes)).toBe(upright[orientation]);
    },
  );
});

it('every stored original is valid for independent tools, which find no metadata of its source', async () => {
  const stored: Stored[] = [];
  for (const [index, { name, content_type, bytes }] of (await soundSources()).entries()) {
    const file_slug = `mixed-${index}`;
    const session = await upload(key, 'demo', { bytes, content_type, file_slug });
    expect([name, session.status, session.error_code]).toEqual([name, 'ready', null]);
    const original = await deliver(tintype, { project: 'demo', path: `/originals/f/${file_slug}` });
    const type = String(original.headers['content-type']);
    if (type !== 'image/svg+xml') stored.push({ content_type: type, bytes: original.bytes });
  }
  expect(new Set(stored.map(({ content_type }) => content_type)).size).toBe(5);
  expect(await complaintsAbout(stored)).toEqual([]);
}, 300_000);

async function metadataOf(bytes: Buffer): Promise<string[]> {
  const tags = await tagsOf(bytes);
  return Object.keys(tags).filter(
    (tag) => tag !== 'SourceFile' && (!CODING.test(tag) || METADATA.test(tag)),
  );
}

/** Returns the colors of the four corners, row by row. */
async function cornersOf(bytes: Buffer): Promise<string> {
  const { width, height } = await identify(bytes);
  const columns = [8, width - 9] as const;
  const corners = [8, height - 9].flatMap((y) => columns.map((x) => [x, y] as const));
  const pixels = await pixelsAt(bytes, corners);
  const names = pixels.map((pixel) => pixel.map((value) => (value > 127 ? 1 : 0)).join(''));
  return names.map((name) => colors[name] ?? name).join('');
}

import fc from 'fast-check';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { readCapture } from '../../../../../runtime/worker/ingest/metadata/capture.ts';
import { openExif } from '../../../../../runtime/worker/ingest/metadata/exif-block.ts';
import { judgeIccProfile } from '../../../../../runtime/worker/ingest/metadata/icc-profile.ts';
import { rebuildExif } from '../../../../../runtime/worker/ingest/metadata/rebuild-exif.ts';
import { rebuildIcc } from '../../../../../runtime/worker/ingest/metadata/rebuild-icc.ts';
import { rebuildXmp } from '../../../../../runtime/worker/ingest/metadata/rebuild-xmp.ts';
import { parseXmp } from '../../../../../runtime/worker/ingest/metadata/xmp-tree.ts';
import { CAMERA_TAGS, tagged } from '../../../../support/camera.ts';
import { printExif } from '../../../../support/exif.ts';
import { over, photograph } from '../../../../support/pictures.ts';

const SIZE = { width: 300, height: 400 };
let picture: Buffer;
let blocks: { exif: Buffer; xmp: Buffer };

beforeAll(async () => {
  picture = await over(photograph(64, 48)).jpeg().toBuffer();
  blocks = await blocksOf(await tagged(picture, 'jpg'));
});

async function blocksOf(bytes: Buffer): Promise<{ exif: Buffer; xmp: Buffer }> {
  const { exif = Buffer.alloc(0), xmp = Buffer.alloc(0) } = await sharp(bytes).metadata();
  return { exif, xmp };
}

async function profileOf(name: string): Promise<Buffer> {
  const picture = over(photograph(8, 8)).withIccProfile(name);
  const space = name === 'cmyk' ? picture.toColourspace('cmyk') : picture;
  return (await sharp(await space.jpeg().toBuffer()).metadata()).icc ?? Buffer.alloc(0);
}

/** Changes some bytes, and sometimes truncates the end. */
const damage = (whole: () => Buffer) =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
      fc.nat(),
    )
    .map(([changes, length]) => {
      const damaged = Buffer.from(
        whole().subarray(0, whole().length - (length % 3) * (length % 97)),
      );
      for (const [at, to] of changes) if (damaged.length > 0) damaged[at % damaged.length] = to;
      return damaged;
    });

describe('damaged metadata blocks', () => {
  it.each([
    ['EXIF', () => blocks.exif, (block: Buffer) => rebuildExif(block, SIZE), 65_000],
    ['XMP', () => blocks.xmp, rebuildXmp, 65_000],
  ] as const)(
    'are dropped or rebuilt to a bounded size, and rebuilding is idempotent: %s',
    (_name, whole, rebuild, max) => {
      fc.assert(
        fc.property(damage(whole), (damaged) => {
          const once = rebuild(damaged);
          if (once === undefined) return;
          expect(once.length).toBeLessThanOrEqual(max);
          expect(rebuild(once)?.equals(once)).toBe(true);
        }),
        { numRuns: 1500 },
      );
    },
  );

  it('are dropped or rebuilt to a bounded size, and rebuilding is idempotent: ICC', async () => {
    const profile = await profileOf('p3');
    fc.assert(
      fc.property(
        damage(() => profile),
        (damaged) => {
          const once = rebuildIcc(damaged);
          if (once === undefined) return;
          expect(once.length).toBeLessThanOrEqual(damaged.length * 100);
          expect(rebuildIcc(once)?.equals(once)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never yield a location off the earth or an invalid date', () => {
    const both = fc.record({ exif: damage(() => blocks.exif), xmp: damage(() => blocks.xmp) });
    fc.assert(
      fc.property(both, (from) => {
        const { location, taken_at } = readCapture(from);
        if (location !== null) {
          expect(Math.abs(location.latitude)).toBeLessThanOrEqual(90);
          expect(Math.abs(location.longitude)).toBeLessThanOrEqual(180);
        }
        if (taken_at !== null) expect(new Date(taken_at).toISOString()).toBe(taken_at);
      }),
      { numRuns: 1500 },
    );
  });
});

it('rebuilt EXIF drops pointers to directories from within another directory', () => {
  const taken = [2, '2024:05:06 07:08:09'] as const;
  const [LONG, DIRECTORY] = [4, 13];
  const exposure = { 34853: [LONG, [8]], 36867: taken, 39321: [DIRECTORY, [8]] } as const;
  const block = openExif(rebuildExif(printExif({ exposure }), SIZE) ?? Buffer.alloc(0));
  const kept = block?.follow(block.root.get(0x8769));
  expect([...(kept?.keys() ?? [])]).toEqual([0x9003]);
});

describe('an ICC profile', () => {
  it.each(['srgb', 'p3', 'cmyk'])('of %s keeps its meaning when it is rebuilt', async (name) => {
    const profile = await profileOf(name);
    const rebuilt = rebuildIcc(profile) ?? Buffer.alloc(0);
    expect(rebuilt.readUInt32BE(0)).toBe(rebuilt.length);
    const space = name === 'cmyk' ? 'cmyk' : 'rgb';
    expect(judgeIccProfile(rebuilt, space)).toBe(judgeIccProfile(profile, space));
  });

  it('loses unknown tags and bytes outside of its tags when it is rebuilt', async () => {
    const profile = await profileOf('p3');
    const hidden = Buffer.concat([profile, Buffer.from('hidden payload')]);
    hidden.writeUInt32BE(hidden.length, 0);
    expect(rebuildIcc(hidden)?.includes('hidden payload')).toBe(false);
    const renamed = Buffer.from(profile);
    renamed.write('evil', 128 + 4, 'latin1');
    expect(rebuildIcc(renamed)?.includes('evil')).toBe(false);
  });
});

describe('XMP', () => {
  const packet = (inside: string, head = '') =>
    Buffer.from(
      `${head}<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:e="urn:evil">${inside}</rdf:Description></rdf:RDF></x:xmpmeta>`,
    );

  it('is dropped if it has a DOCTYPE, is in another encoding or is not XML', () => {
    expect(
      rebuildXmp(packet('<dc:title>a</dc:title>', '<!DOCTYPE a [<!ENTITY b "c">]>')),
    ).toBeUndefined();
    expect(
      rebuildXmp(Buffer.from(packet('<dc:title>a</dc:title>').toString(), 'utf16le')),
    ).toBeUndefined();
    expect(rebuildXmp(Buffer.from('no xml at all'))).toBeUndefined();
    expect(rebuildXmp(packet('<dc:title>'.repeat(40)))).toBeUndefined();
  });

  it('keeps only known namespaces', () => {
    const rebuilt = rebuildXmp(
      packet('<e:bad><dc:title>in bad</dc:title></e:bad><dc:title e:x="1">kept</dc:title>'),
    )?.toString();
    expect(rebuilt).toContain('<dc:title>kept</dc:title>');
    expect(rebuilt).not.toMatch(/evil|in bad|e:x/);
  });

  it('is read without its padding, however long', () => {
    const padded = (padding: string) =>
      rebuildXmp(Buffer.from(`${packet('<dc:title>a</dc:title>')}${padding}`));
    expect(padded(`${'\0'.repeat(100_000)} \n`)?.toString()).toContain('<dc:title>a</dc:title>');
    expect(padded(`${'\0'.repeat(100_000)}a`)).toBeUndefined();
  });

  it('keeps line breaks in text and attributes', () => {
    const lines = 'one&#10;two&#13;&#9;three';
    const own = packet('').toString().replace('xmlns:e="urn:evil"', `dc:title="${lines}"`);
    const read = (bytes: Buffer | undefined) => bytes && parseXmp(bytes);
    const [before, after] = [Buffer.from(own), rebuildXmp(Buffer.from(own))];
    const attributesOf = (root: ReturnType<typeof read>) =>
      JSON.stringify(root).match(/"value":"[^"]*"/g);
    expect(attributesOf(read(after))).toEqual(attributesOf(read(before)));
    expect(rebuildXmp(packet(`<dc:title>one&#13;\ntwo</dc:title>`))?.toString()).toContain(
      'one&#13;\ntwo',
    );
  });

  it('is dropped if it is longer than a JPEG can hold', () => {
    const long = `<dc:title>${'a'.repeat(10_000)}</dc:title>`;
    expect(rebuildXmp(packet(long))).toBeDefined();
    expect(rebuildXmp(packet(long.repeat(7)))).toBeUndefined();
  });
});

describe('location and capture time', () => {
  const captureOf = async (...words: string[]) =>
    readCapture(await blocksOf(await tagged(picture, 'jpg', words)));

  it.each([
    [
      'both from EXIF',
      CAMERA_TAGS,
      {
        location: { latitude: -33.8566667, longitude: 151.2152222 },
        taken_at: '2024-05-06T05:08:09.000Z',
      },
    ],
    [
      'without an offset as UTC',
      ['-EXIF:DateTimeOriginal=2024:05:06 07:08:09'],
      { taken_at: '2024-05-06T07:08:09.000Z' },
    ],
    [
      'both from XMP if EXIF has neither',
      [
        '-XMP-exif:GPSLatitude=52.52',
        '-XMP-exif:GPSLongitude=-13.405',
        '-XMP-photoshop:DateCreated=2023:01:02 03:04:05+01:00',
      ],
      { location: { latitude: 52.52, longitude: -13.405 }, taken_at: '2023-01-02T02:04:05.000Z' },
    ],
    [
      'time from the CreateDate of XMP',
      ['-XMP-xmp:CreateDate=2022:12:31 23:59:59'],
      { taken_at: '2022-12-31T23:59:59.000Z' },
    ],
    [
      'EXIF before XMP',
      [
        '-EXIF:DateTimeOriginal=2024:05:06 07:08:09',
        '-XMP-exif:DateTimeOriginal=2001:01:01 00:00:00',
      ],
      { taken_at: '2024-05-06T07:08:09.000Z' },
    ],
    [
      'no location at 0, 0, which cameras without a fix write',
      [
        '-EXIF:GPSLatitude=0',
        '-EXIF:GPSLatitudeRef=N',
        '-EXIF:GPSLongitude=0',
        '-EXIF:GPSLongitudeRef=E',
      ],
      { location: null },
    ],
    [
      'no location that the image only shows',
      ['-XMP-iptcExt:LocationShown={GPSLatitude=48.147,GPSLongitude=17.1}'],
      { location: null },
    ],
    [
      'no latitude without a longitude',
      ['-EXIF:GPSLatitude=12', '-EXIF:GPSLatitudeRef=N'],
      { location: null },
    ],
    [
      'no day that does not exist in its month',
      ['-EXIF:DateTimeOriginal=2024:02:30 07:08:09'],
      { taken_at: null },
    ],
    [
      'fractions of a second',
      ['-EXIF:DateTimeOriginal=2024:05:06 07:08:09', '-EXIF:SubSecTimeOriginal=0456'],
      { taken_at: '2024-05-06T07:08:09.045Z' },
    ],
    [
      'UTC if the offset is impossible',
      ['-EXIF:DateTimeOriginal=2024:05:06 07:08:09', '-EXIF:OffsetTimeOriginal#=+99:99'],
      { taken_at: '2024-05-06T07:08:09.000Z' },
    ],
    [
      'no year that the offset would move out of the calendar',
      ['-EXIF:DateTimeOriginal#=9999:12:31 23:59:59', '-EXIF:OffsetTimeOriginal=-14:00'],
      { taken_at: null },
    ],
    [
      'no location without its hemisphere',
      ['-EXIF:GPSLatitude=12', '-EXIF:GPSLatitudeRef=N', '-EXIF:GPSLongitude=13'],
      { location: null },
    ],
    [
      'no capture time of zeros',
      ['-EXIF:DateTimeOriginal#=0000:00:00 00:00:00'],
      { taken_at: null },
    ],
    ['neither if the file has none', ['-EXIF:Make=Tintype'], { location: null, taken_at: null }],
  ] as const)('are read: %s', async (_what, words, expected) => {
    expect(await captureOf(...words)).toMatchObject(expected);
  });

  it.each([
    ['+01:00', '2023-01-02T02:04:05.000Z'],
    ['Z', '2023-01-02T03:04:05.000Z'],
    ['+18:00', '2023-01-02T03:04:05.000Z'],
    ['-99:00', '2023-01-02T03:04:05.000Z'],
  ])(
    'with the XMP offset %s are read as %s, in UTC if the offset is impossible',
    (zone, taken_at) => {
      const xmp = Buffer.from(
        `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="2023-01-02T03:04:05${zone}"/></rdf:RDF>`,
      );
      expect(readCapture({ xmp })).toEqual({ location: null, taken_at });
    },
  );
});

/** Metadata that costs more than its image: large, compressed or malformed profiles, EXIF, XMP and comments. */
import { deflateSync } from 'node:zlib';
import type { HostileFile } from './hostile-corpus.ts';
import { over, photograph, pngChunk } from './pictures.ts';

export async function* metadataBombs(): AsyncGenerator<HostileFile> {
  const picture = over(photograph(48, 40));
  const [jpeg, png, webp] = await Promise.all([
    picture.clone().jpeg().toBuffer(),
    picture.clone().png().toBuffer(),
    picture.clone().webp().toBuffer(),
  ]);
  const profile = await profileBytes();
  for (const [name, bytes] of blocks(profile)) {
    yield made(`JPEG, ${name}`, 'image/jpeg', withSegment(jpeg, name, bytes));
    yield made(`WebP, ${name}`, 'image/webp', withRiffChunk(webp, name, bytes));
    yield made(`PNG, ${name}`, 'image/png', withPngChunk(png, name, bytes));
  }
  for (const [name, chunk] of packed()) {
    yield made(`PNG, ${name}`, 'image/png', insert(png, 33, chunk));
  }
}

const made = (name: string, content_type: string, bytes: Buffer): HostileFile => ({
  family: 'metadata bombs',
  name,
  content_type,
  bytes,
});

async function profileBytes(): Promise<Buffer> {
  const png = await over(photograph(8, 8)).jpeg().withIccProfile('p3').toBuffer();
  const start = png.indexOf('ICC_PROFILE\0') + 14;
  return png.subarray(start, start + png.readUInt32BE(start));
}

type Block = readonly [name: string, bytes: Buffer];

function* blocks(profile: Buffer): Generator<Block> {
  for (const size of [0, 1, 127, 128, 132, 60_000, 16_000_000]) {
    yield [`profile of ${size} bytes`, Buffer.alloc(size, 1)];
  }
  for (const [name, at, value] of [
    ['length', 0, 0xffffffff],
    ['version', 8, 0xff000000],
    ['class', 12, 0x6c696e6b],
    ['space', 16, 0x434d594b],
    ['connection space', 20, 0],
    ['signature', 36, 0],
    ['count of tags', 128, 0xffffffff],
    ['first offset', 136, 0xfffffff0],
    ['first length', 140, 0xfffffff0],
  ] as const) {
    const damaged = Buffer.from(profile);
    damaged.writeUInt32BE(value, at);
    yield [`profile with a lying ${name}`, damaged];
  }
  for (const [name, bytes] of exifs()) yield [`EXIF ${name}`, bytes];
  yield ['XMP with entities', Buffer.from(LAUGHS)];
  yield ['XMP of 60,000 bytes', Buffer.from(`<x>${'<a>'.repeat(20_000)}`)];
}

const LAUGHS = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, at) => `<!ENTITY a${at} "${'&a;'.repeat(10)}">`).join('')}]><x:xmpmeta xmlns:x="adobe:ns:meta/">&a8;</x:xmpmeta>`;

/** Each entry is a tag, type, count and value. */
function* exifs(): Generator<Block> {
  const directory = (entries: readonly (readonly number[])[], next = 0) => {
    const bytes = Buffer.alloc(8 + 2 + entries.length * 12 + 4);
    bytes.write('II*\0');
    bytes.writeUInt32LE(8, 4);
    bytes.writeUInt16LE(entries.length, 8);
    for (const [index, [tag = 0, type = 0, count = 0, value = 0]] of entries.entries()) {
      const at = 10 + index * 12;
      bytes.writeUInt16LE(tag, at);
      bytes.writeUInt16LE(type, at + 2);
      bytes.writeUInt32LE(count, at + 4);
      bytes.writeUInt32LE(value, at + 8);
    }
    bytes.writeUInt32LE(next, bytes.length - 4);
    return Buffer.concat([Buffer.from('Exif\0\0'), bytes]);
  };
  yield ['that is its own next directory', directory([[0x112, 3, 1, 6]], 8)];
  yield [
    'whose inner directory is itself',
    directory([
      [0x8769, 4, 1, 8],
      [0x8825, 4, 1, 8],
    ]),
  ];
  for (const orientation of [0, 9, 255, 65_535]) {
    yield [`of orientation ${orientation}`, directory([[0x112, 3, 1, orientation]])];
  }
  for (const type of [0, 2, 5, 7, 12, 13, 99]) {
    yield [
      `of type ${type} with too many values`,
      directory([
        [0x8825, type, 0xffffffff, 8],
        [0x112, type, 0xffffffff, 0xffffffff],
      ]),
    ];
  }
  yield [
    'with 65,535 entries',
    Buffer.concat([Buffer.from('Exif\0\0II*\0'), Buffer.from([8, 0, 0, 0, 255, 255])]),
  ];
  yield ['of nothing', Buffer.from('Exif\0\0')];
  yield ['of no byte order', Buffer.concat([Buffer.from('Exif\0\0XX'), Buffer.alloc(40, 1)])];
  yield ['of 60,000 entries for places', directory(Array(4000).fill([0x8825, 4, 1, 8]))];
}

const SEGMENT_MAX = 65_000;

function withSegment(jpeg: Buffer, name: string, bytes: Buffer): Buffer {
  const isProfile = name.startsWith('profile');
  const count = Math.max(1, Math.ceil(bytes.length / SEGMENT_MAX));
  const segments = Array.from({ length: Math.min(count, 255) }, (_, index) => {
    const head = isProfile
      ? Buffer.from(`ICC_PROFILE\0${String.fromCharCode(index + 1, count & 255)}`, 'latin1')
      : Buffer.from(name.startsWith('XMP') ? 'http://ns.adobe.com/xap/1.0/\0' : '');
    const body = bytes.subarray(index * SEGMENT_MAX, (index + 1) * SEGMENT_MAX);
    const segment = Buffer.concat([Buffer.from([0xff, isProfile ? 0xe2 : 0xe1, 0, 0]), head, body]);
    segment.writeUInt16BE(segment.length - 2, 2);
    return segment;
  });
  return insert(jpeg, 2, Buffer.concat(segments));
}

function withPngChunk(png: Buffer, name: string, bytes: Buffer): Buffer {
  if (name.startsWith('profile')) {
    return insert(
      png,
      33,
      pngChunk('iCCP', Buffer.concat([Buffer.from('p\0\0'), deflateSync(bytes)])),
    );
  }
  if (name.startsWith('EXIF')) return insert(png, 33, pngChunk('eXIf', bytes.subarray(6)));
  const head = Buffer.from('XML:com.adobe.xmp\0\0\0\0\0');
  return insert(png, 33, pngChunk('iTXt', Buffer.concat([head, bytes])));
}

function withRiffChunk(webp: Buffer, name: string, bytes: Buffer): Buffer {
  const type = { p: 'ICCP', E: 'EXIF', X: 'XMP ' }[name[0] ?? 'p'] ?? 'ICCP';
  const extended = Buffer.alloc(18);
  extended.write('VP8X');
  extended.writeUInt32LE(10, 4);
  extended[8] = { ICCP: 0x20, EXIF: 8, 'XMP ': 4 }[type] ?? 0;
  extended.writeUIntLE(47, 12, 3);
  extended.writeUIntLE(39, 15, 3);
  const chunk = Buffer.alloc(8);
  chunk.write(type);
  chunk.writeUInt32LE(bytes.length, 4);
  const parts = [chunk, bytes, Buffer.alloc(bytes.length % 2)];
  const inner = type === 'ICCP' ? [...parts, webp.subarray(12)] : [webp.subarray(12), ...parts];
  const file = Buffer.concat([webp.subarray(0, 12), extended, ...inner]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}

/** Small in the file, but large when decompressed. */
function* packed(): Generator<Block> {
  const zeros = deflateSync(Buffer.alloc(100_000_000));
  const text = Buffer.from('Comment\0\0');
  yield [
    'packed profile of 100 MB',
    pngChunk('iCCP', Buffer.concat([Buffer.from('p\0\0'), zeros])),
  ];
  yield ['packed text of 100 MB', pngChunk('zTXt', Buffer.concat([text, zeros]))];
  yield [
    'packed international text of 100 MB',
    pngChunk('iTXt', Buffer.concat([Buffer.from('XML:com.adobe.xmp\0\u0001\0\0\0'), zeros])),
  ];
  const comment = pngChunk('tEXt', Buffer.from('Comment\0x'));
  yield ['50,000 texts', Buffer.concat(Array(50_000).fill(comment))];
  yield [
    'text of 20 MB',
    pngChunk('tEXt', Buffer.concat([Buffer.from('Comment\0'), Buffer.alloc(20_000_000, 65)])),
  ];
  const palette = pngChunk('sPLT', Buffer.concat([Buffer.from('p\0\b'), Buffer.alloc(600_000)]));
  yield ['ten suggested palettes', Buffer.concat(Array(10).fill(palette))];
}

function insert(file: Buffer, at: number, part: Buffer): Buffer {
  return Buffer.concat([file.subarray(0, at), part, file.subarray(at)]);
}

// `tintype upload *` on a folder of sound, broken and hostile files: each ends ready, or with its code and a sentence
// that says what to do, whatever its neighbours are.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { over, photograph, pngBomb } from '../support/pictures.ts';
import { deliver, withKey } from './support/client.ts';
import {
  makeFolder,
  removeFolder,
  runTintype,
  startTintype,
  type Tintype,
} from './support/tintype.ts';
import { identify } from './support/tools.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><circle r="9"/></svg>';
const BIG = { width: 2600, height: 2400 };
const MULTIPART_BYTES_MIN = 16 * 1024 * 1024;

let tintype: Tintype;
let folder: string;
let said: { code: number | null; stdout: string; stderr: string };

async function writeFolder(): Promise<void> {
  const picture = over(photograph(320, 240));
  const jpeg = await picture.clone().jpeg().toBuffer();
  const gif = await over(photograph(40, 30)).gif().toBuffer();
  const frame = gif.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
  const noise = { raw: { ...BIG, channels: 3 as const } };
  const files: Record<string, Buffer | string> = {
    'Good Photo.JPG': jpeg,
    'good.webp': await picture.clone().webp().toBuffer(),
    'good.svg': SVG,
    'large.png': await sharp(randomBytes(BIG.width * BIG.height * 3), noise)
      .png({ compressionLevel: 0 })
      .toBuffer(),
    'animated.gif': Buffer.concat([gif.subarray(0, -1), gif.subarray(frame)]),
    'bomb.png': pngBomb(30_000, 30_000),
    'cut.jpg': jpeg.subarray(0, jpeg.length / 2),
    'empty.jpg': '',
    'notes.txt': 'no picture at all',
    'packed.svgz': gzipSync(SVG),
    'phone.heic': Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1'),
    'script.svg': SVG.replace('<circle r="9"/>', '<script>alert(1)</script><circle r="9"/>'),
    'doctype.svg': `<!DOCTYPE svg [<!ENTITY a "b">]>${SVG}`,
  };
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  await mkdir(join(folder, 'sub'));
}

const outcomes: Record<string, RegExp> = {
  'Good Photo.JPG': /^✓ ready$/,
  'good.webp': /^✓ ready$/,
  'good.svg': /^✓ ready$/,
  'large.png': /^✓ ready$/,
  'script.svg': /^✓ ready$/,
  'animated.gif': /^✗ animated_not_supported: .*single frame\.$/,
  'bomb.png': /^✗ image_too_large: .*smaller\.$/,
  'cut.jpg': /^✗ decode_failed: .*Export it again/,
  'doctype.svg': /^✗ unsupported_media_type: .*convert it first\.$/,
  'empty.jpg': /^✗ is empty$/,
  'notes.txt': /^✗ is not an image that Tintype knows: use JPEG/,
  'packed.svgz': /^✗ is not an image that Tintype knows: use JPEG/,
  'phone.heic': /^✗ unsupported_content_type: This service takes image\/jpeg, [^({]*\.$/,
  sub: /^✗ is not a file$/,
};

beforeAll(async () => {
  folder = await makeFolder();
  const [started] = await Promise.all([startTintype(), writeFolder()]);
  tintype = started;
  const names = await readdir(folder);
  const files = names.map((name) => join(folder, name));
  said = await runTintype(['upload', ...files, '--data', tintype.data]);
});

afterAll(async () => {
  await tintype?.end('SIGTERM');
  await Promise.all([tintype.data, folder].map(removeFolder));
});

it('says of every file how it ended, in a line of its own', () => {
  const lines = said.stderr.trimEnd().split('\n');
  const ends = Object.fromEntries(
    lines.map((line) => [line.slice(0, 32).trimEnd(), line.slice(33)] as const),
  );
  const expected = Object.entries(outcomes).map(([name, says]) => [
    name,
    expect.stringMatching(says),
  ]);
  expect(ends).toMatchObject(Object.fromEntries(expected));
});

it('ends with 1, and says of how many files the reasons stand above', () => {
  expect(said.code).toBe(1);
  expect(said.stderr).toMatch(/\ntintype: 9 of 14 files were not published; .*\n$/);
});

it('prints the addresses of those that are published, and of no other', () => {
  const slugs = [...said.stdout.matchAll(/\/originals\/f\/(\S+)/g)].map(([, slug]) => slug);
  expect(slugs.sort()).toEqual([
    'good-photo.jpg',
    'good.svg',
    'good.webp',
    'large.png',
    'script.svg',
  ]);
});

it('has sent the large file in parts, and all of it', async () => {
  const key = withKey(tintype, tintype.instance.api_key);
  const file = await key('GET', '/v1/projects/demo/files/large.png');
  expect(file.body.size_bytes).toBeGreaterThan(MULTIPART_BYTES_MIN);
  expect(file.body).toMatchObject(BIG);
  const image = await deliver(tintype, { project: 'demo', path: '/resize/260x/f/large.png' });
  expect(await identify(image.bytes)).toEqual({ format: 'PNG', width: 260, height: 240 });
});

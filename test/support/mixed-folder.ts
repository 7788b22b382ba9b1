/**
 * A folder as a user might have it: images of all eight types with unusual names, broken, hostile and unrelated files,
 * a subfolder and links. Each entry comes with the expected output of `tintype upload`.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { printBmp } from './bmp.ts';
import { animatedPng, animatedWebp, over, photograph, pngBomb } from './pictures.ts';

/** The output after the name: `✓ ready …` or `✗ code: sentence`. */
export type MixedFile = { name: string; bytes: Buffer | string; says: RegExp };

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><circle r="9"/></svg>';
const NOISE = { raw: { width: 2600, height: 2400, channels: 3 as const } };
const photo = photograph(320, 240);
const jpeg = over(photo).jpeg().toBuffer();
const png = over(photo).png().toBuffer();

export async function mixedFiles(): Promise<MixedFile[]> {
  return [...(await sound()), ...(await awkward()), ...(await broken()), ...foreign()];
}

/** Writes all entries, and returns the expected output by name. */
export async function writeMixedFolder(folder: string): Promise<Record<string, RegExp>> {
  const files = await mixedFiles();
  for (const { name, bytes } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
  }
  await mkdir(join(folder, 'folder'));
  await symlink('good.png', join(folder, 'link.png'));
  await symlink('nothing', join(folder, 'dangling.png'));
  await symlink('circle.png', join(folder, 'circle.png'));
  return {
    ...Object.fromEntries(files.map(({ name, says }) => [name, says])),
    folder: /^✗ unreadable_file: This is a folder\. Name the files in it, .*folder\/\*$/,
    'link.png': READY,
    'dangling.png':
      /^✗ unreadable_file: This link points to a file that does not exist\. Correct the link\.$/,
    'circle.png': /^✗ unreadable_file: This is a link that points to itself\. Name the image\.$/,
  };
}

const READY = /^✓ ready$/;
const as = (slug: string) => new RegExp(`^✓ ready as ${slug.replaceAll('.', '\\.')}$`);

async function sound(): Promise<MixedFile[]> {
  const made: Record<string, Buffer | string> = {
    'good.jpg': await jpeg,
    'good.png': await png,
    'good.webp': await over(photo).webp().toBuffer(),
    'good.avif': await over(photo).avif({ effort: 0 }).toBuffer(),
    'good.gif': await over(photo).gif().toBuffer(),
    'good.tiff': await over(photo).tiff({ compression: 'lzw' }).toBuffer(),
    'good.bmp': printBmp(
      { width: 40, height: 30, pixelAt: (x, y) => x * 70_000 + y },
      { bits: 24 },
    ),
    'good.svg': SVG,
    'large.png': await sharp(randomBytes(2600 * 2400 * 3), NOISE)
      .png({ compressionLevel: 0 })
      .toBuffer(),
    'script.svg': SVG.replace('<circle r="9"/>', '<script>alert(1)</script><circle r="9"/>'),
    'twice--dashed.jpg': await jpeg,
  };
  return Object.entries(made).map(([name, bytes]) => ({ name, bytes, says: READY }));
}

/** Slugs leave out characters that URLs do not permit. No two names give the same slug. */
async function awkward(): Promise<MixedFile[]> {
  const bytes = await jpeg;
  return [
    { name: 'Good Photo (1).JPG', bytes, says: as('good-photo-1.jpg') },
    { name: '-dash.jpg', bytes, says: as('dash.jpg') },
    { name: '--slug.jpg', bytes, says: as('slug.jpg') },
    { name: 'UPPER.JPG', bytes, says: as('upper.jpg') },
    { name: 'façade ünder Straße.jpg', bytes, says: as('facade-under-strasse.jpg') },
    {
      name: '写真.jpg',
      bytes,
      says: /^✓ ready as upl_\w+ \(no character of its name is allowed in a slug; .*--slug/,
    },
    { name: 'red\u001b[31m.jpg', bytes, says: as('red-31m.jpg') },
    { name: 'same.jpg', bytes, says: READY },
    {
      name: 'sub/same.jpg',
      bytes,
      says: /^✓ ready as same-2\.jpg \(same\.jpg is taken by .*same\.jpg\)$/,
    },
    {
      name: 'really.jpg',
      bytes: await png,
      says: /^✓ ready \(it is a PNG, whatever its name says\)$/,
    },
  ];
}

async function broken(): Promise<MixedFile[]> {
  const gif = await over(photograph(40, 30)).gif().toBuffer();
  const frame = gif.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
  const whole = await jpeg;
  const palette = pngBomb(65_535, 65_535);
  palette[8 + 8 + 9] = 3;
  const nested = `${'<g opacity=".9">'.repeat(200)}${'</g>'.repeat(200)}`;
  const one = /^✗ animated_not_supported: .*single frame\.$/;
  const smaller =
    /^✗ image_too_large: The PNG has too many pixels \(at most 128 .*: make it smaller\.$/;
  return [
    {
      name: 'animated.gif',
      bytes: Buffer.concat([gif.subarray(0, -1), gif.subarray(frame)]),
      says: one,
    },
    { name: 'animated.png', bytes: animatedPng(await png), says: one },
    { name: 'animated.webp', bytes: await animatedWebp(40, 30), says: one },
    { name: 'bomb.png', bytes: pngBomb(30_000, 30_000), says: smaller },
    { name: 'bomb-palette.png', bytes: palette, says: /^✗ (image_too_large|decode_failed): / },
    {
      name: 'deep.svg',
      bytes: SVG.replace('<circle r="9"/>', nested),
      says: /^✗ image_too_large: The SVG .* Simplify it\.$/,
    },
    {
      name: 'cut.jpg',
      bytes: whole.subarray(0, whole.length / 2),
      says: /^✗ decode_failed: The JPEG is corrupt or truncated\. Export it again/,
    },
    {
      name: 'doctype.svg',
      bytes: `<!DOCTYPE svg [<!ENTITY a "b">]>${SVG}`,
      says: /^✗ unsupported_media_type: .*Delete the line that begins with <!DOCTYPE/,
    },
    {
      name: 'large.svg',
      bytes: `${SVG}${' '.repeat(2_000_000)}`,
      says: /^✗ file_too_large: .* at most 2000000 bytes\.$/,
    },
  ];
}

/** Rejected before anything is sent, with the message of the service. */
function foreign(): MixedFile[] {
  const type = 'unsupported_content_type';
  return [
    { name: 'empty.jpg', bytes: '', says: /^✗ invalid_request: The file is empty\. / },
    {
      name: 'notes.txt',
      bytes: 'no picture at all',
      says: new RegExp(`^✗ ${type}: This type of file is not accepted. Use JPEG`),
    },
    {
      name: 'packed.svgz',
      bytes: gzipSync(SVG),
      says: new RegExp(`^✗ ${type}: This is packed with gzip. Unpack it first`),
    },
    {
      name: 'archive.zip',
      bytes: Buffer.from('504b0304140000000800', 'hex'),
      says: new RegExp(`^✗ ${type}: This is a ZIP archive. Unpack it first`),
    },
    {
      name: 'letter.pdf',
      bytes: '%PDF-1.7\n',
      says: new RegExp(`^✗ ${type}: This is a PDF. Export its pages`),
    },
    {
      name: 'phone.heic',
      bytes: Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1'),
      says: new RegExp(`^✗ ${type}: This is a HEIC picture, .*Convert it to JPEG`),
    },
  ];
}

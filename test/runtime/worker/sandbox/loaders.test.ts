// A file that is valid as two types reaches only one decoder (S-17). Runs in a process of its own, since libvips blocks
// loaders for the whole process.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const PROGRAM = `
import sharp from 'sharp';
import { blockLoaders, withLoaders } from '${new URL('../../../../runtime/worker/sandbox/loaders.ts', import.meta.url)}';
const made = sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } });
const files = {};
for (const type of ['png', 'jpeg', 'webp', 'gif', 'tiff']) files[type] = await made.clone().toFormat(type).toBuffer();
files.svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>');
const read = async () => {
  const taken = [];
  for (const [type, bytes] of Object.entries(files))
    await sharp(bytes).raw().toBuffer().then(() => taken.push(type), () => undefined);
  return taken;
};
blockLoaders();
const reads = { before: await read() };
for (const type of ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/tiff', 'image/svg+xml'])
  reads[type] = await withLoaders([type], read);
reads['image/bmp'] = await withLoaders(['image/bmp'], read);
reads.after = await read();
console.log(JSON.stringify(reads));
`;

it('only the loader of the given type is enabled, and none before and after', async () => {
  const program = ['--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  expect(JSON.parse(stdout)).toEqual({
    before: [],
    'image/png': ['png'],
    'image/jpeg': ['jpeg'],
    'image/webp': ['webp'],
    'image/gif': ['gif'],
    'image/tiff': ['tiff'],
    'image/svg+xml': ['svg'],
    'image/bmp': [],
    after: [],
  });
}, 60_000);

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFileFacts } from '../../../runtime/cli/file-facts.ts';

const NOBODY = 65_534;
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-facts-'));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, bytes: Buffer | string = PNG): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

/** Drops root privileges if necessary, since root can read every file. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

it('an unreadable file is rejected with advice on its permissions', async () => {
  const path = await write('private.png');
  await chmod(path, 0);
  await expect(asNobody(() => readFileFacts(path))).rejects.toMatchObject({
    code: 'unreadable_file',
    message: expect.stringMatching(/^unreadable_file: You may not read this file\. .*chmod u\+r/),
  });
});

it('an SVG is recognized behind a long license comment', async () => {
  const path = await write('a.svg', `<!-- ${'Licence. '.repeat(1000)}--><svg/>`);
  expect(await readFileFacts(path)).toMatchObject({ content_type: 'image/svg+xml' });
});

it('the type follows from the bytes, with a note if the name suggests another one', async () => {
  expect(await readFileFacts(await write('a.png'))).toEqual({
    content_type: 'image/png',
    size_bytes: PNG.length,
  });
  expect(await readFileFacts(await write('a'))).not.toHaveProperty('note');
  expect(await readFileFacts(await write('a.jpeg'))).toHaveProperty(
    'note',
    'it is a PNG, whatever its name says',
  );
  const svg = await write('drawing.png', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  expect(await readFileFacts(svg)).toMatchObject({ note: 'it is an SVG, whatever its name says' });
  const jpeg = Buffer.from('ffd8ffe0', 'hex');
  for (const name of ['b.jpg', 'b.JPEG', 'b.jfif']) {
    expect(await readFileFacts(await write(name, jpeg))).not.toHaveProperty('note');
  }
});

it('a file with an empty name is refused, and the name is the reason', async () => {
  await expect(readFileFacts('')).rejects.toThrow('The name is empty');
});

it.each([
  ['a path through a file', 'a.png/b.png', /There is no such file: a part of its path/],
  ['a name that is too long', 'x'.repeat(300), /name is too long/],
  [
    'a name that was not in UTF-8',
    Buffer.from('caf\xe9.jpg', 'latin1').toString(),
    /not in UTF-8.*Rename/,
  ],
])('the error says what is wrong with %s', async (_what, name, says) => {
  await write('a.png');
  await expect(readFileFacts(join(folder, name))).rejects.toThrow(says);
});

it.each([
  ['8BPS', /Photoshop/],
  [Buffer.from('0000010001002020', 'hex'), /icon file/],
  [Buffer.from('ff0a0000', 'hex'), /JPEG XL/],
  ['\0\0\0\x20ftypisom\0\0\x02\0isommp42', /video/],
  ['GIF', /type of file is not accepted/],
])(
  'an unsupported file that begins with %s is rejected with the name of its format',
  async (bytes, says) => {
    await expect(readFileFacts(await write('stranger', bytes))).rejects.toMatchObject({
      code: 'unsupported_content_type',
      message: expect.stringMatching(says),
    });
  },
);

/** Little CMS as the judge of colours: perceptual, black point compensated, without tables of its own in between. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tagged } from './camera.ts';

/** To its sRGB. */
export async function convertTiff(tiff: Buffer): Promise<Buffer> {
  return inFolder(async (folder) => {
    const [from, to] = [join(folder, 'from.tif'), join(folder, 'to.tif')];
    await writeFile(from, tiff);
    await promisify(execFile)('tificc', ['-t0', '-c0', '-b', from, to]);
    return readFile(to);
  });
}

/** Only its profile is set: no pixel is touched. */
export async function withProfile(
  bytes: Buffer,
  extension: string,
  profile: Buffer,
): Promise<Buffer> {
  return inFolder(async (folder) => {
    const file = join(folder, 'profile.icc');
    await writeFile(file, profile);
    return tagged(bytes, extension, [`-ICC_Profile<=${file}`]);
  });
}

async function inFolder(work: (folder: string) => Promise<Buffer>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-colours-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

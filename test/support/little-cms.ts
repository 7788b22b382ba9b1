/**
 * Converts colors with Little CMS, as a reference: perceptual intent, black point compensation, no precomputed tables.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tagged } from './camera.ts';

/** Converts to the sRGB profile that is built into Little CMS. */
export async function convertTiff(tiff: Buffer): Promise<Buffer> {
  return inFolder(async (folder) => {
    const [from, to] = [join(folder, 'from.tif'), join(folder, 'to.tif')];
    await writeFile(from, tiff);
    await promisify(execFile)('tificc', ['-t0', '-c0', '-b', from, to]);
    return readFile(to);
  });
}

/** Attaches a profile without changing any pixel. */
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
  const folder = await mkdtemp(join(tmpdir(), 'tintype-colors-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

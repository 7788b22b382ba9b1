/** Checks files and bytes with independent programs: ImageMagick and ExifTool. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askExifTool } from '../../support/exif-tool.ts';

export type Identified = { format: string; width: number; height: number };

/** Decodes the whole image with ImageMagick and returns its format and size. */
export async function identify(bytes: Buffer): Promise<Identified> {
  const text = await run('identify', ['-regard-warnings', '-format', '%m %w %h\n', '-'], bytes);
  const [format = '', width, height] = text.trim().split(' ');
  return { format: brandOf(bytes) ?? format, width: Number(width), height: Number(height) };
}

/** ImageMagick reports HEIC for some AVIF files, so this reads the brand in the file. */
function brandOf(bytes: Buffer): string | undefined {
  return bytes.toString('latin1', 4, 12) === 'ftypavif' ? 'AVIF' : undefined;
}

/** Returns pixels as red, green and blue from 0 to 255. */
export async function pixelsAt(
  bytes: Buffer,
  places: readonly (readonly [x: number, y: number])[],
): Promise<number[][]> {
  const channel = (x: number, y: number, name: string) => `%[fx:int(255*p{${x},${y}}.${name})]`;
  const format = places.map(([x, y]) => ['r', 'g', 'b'].map((name) => channel(x, y, name)).join());
  const printed = await run('identify', ['-format', format.join(' '), '-'], bytes);
  return printed.split(' ').map((pixel) => pixel.split(',').map(Number));
}

/** Returns every tag that ExifTool finds, including unknown ones, as `Group:Tag`. */
export async function tagsOf(bytes: Buffer): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-tags-'));
  try {
    const file = join(folder, 'picture');
    await writeFile(file, bytes);
    // Leaves out tags of the file system.
    const words = ['-json', '-G0', '-a', '-u', '-ee', '--System:all', file];
    return JSON.parse(await askExifTool(words))[0];
  } finally {
    await rm(folder, { recursive: true });
  }
}

function run(command: string, args: readonly string[], input: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const complaints: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk));
    // Some programs stop reading as soon as they know enough.
    child.stdin.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(out).toString('utf8'));
      else reject(new Error(`${command} ended with ${code}: ${Buffer.concat(complaints)}`));
    });
    child.stdin.end(input);
  });
}

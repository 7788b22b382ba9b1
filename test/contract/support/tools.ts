/** Judges from outside: ImageMagick and ExifTool on files and bytes. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askExifTool } from '../../support/exif-tool.ts';

export type Identified = { format: string; width: number; height: number };

/** What ImageMagick takes the bytes for, after decoding all of them. */
export async function identify(bytes: Buffer): Promise<Identified> {
  const text = await run('identify', ['-regard-warnings', '-format', '%m %w %h\n', '-'], bytes);
  const [format = '', width, height] = text.trim().split(' ');
  return { format: brandOf(bytes) ?? format, width: Number(width), height: Number(height) };
}

/** ImageMagick calls AVIF what is HEIC to it: the file's own brand says which. */
function brandOf(bytes: Buffer): string | undefined {
  return bytes.toString('latin1', 4, 12) === 'ftypavif' ? 'AVIF' : undefined;
}

/** The colours of pixels, each as red, green and blue in 0..255. */
export async function pixelsAt(
  bytes: Buffer,
  places: readonly (readonly [x: number, y: number])[],
): Promise<number[][]> {
  const channel = (x: number, y: number, name: string) => `%[fx:int(255*p{${x},${y}}.${name})]`;
  const format = places.map(([x, y]) => ['r', 'g', 'b'].map((name) => channel(x, y, name)).join());
  const printed = await run('identify', ['-format', format.join(' '), '-'], bytes);
  return printed.split(' ').map((pixel) => pixel.split(',').map(Number));
}

/** Every tag that ExifTool finds, as `Group:Tag`, unknown ones too. */
export async function tagsOf(bytes: Buffer): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-tags-'));
  try {
    const file = join(folder, 'picture');
    await writeFile(file, bytes);
    // Nothing of the file that it lies in.
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
    // Some stop reading once they know enough.
    child.stdin.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(out).toString('utf8'));
      else reject(new Error(`${command} ended with ${code}: ${Buffer.concat(complaints)}`));
    });
    child.stdin.end(input);
  });
}

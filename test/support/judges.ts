/**
 * Independent programs that check many files per call: ImageMagick decodes all formats, pngcheck, webpinfo and avifdec
 * check their own, and ExifTool looks for metadata of the source.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Stored = { content_type: string; bytes: Uint8Array };

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'image/svg+xml': 'svg',
};

/** These programs accept a list of files. */
const JUDGES: Readonly<Record<string, readonly string[]>> = {
  png: ['pngcheck', '-q'],
  webp: ['webpinfo', '-quiet'],
};

/** Returns every complaint of the programs. A file is named by its position in the list. */
export async function complaintsAbout(files: readonly Stored[]): Promise<string[]> {
  return written(files, async (folder, names) => [
    ...(await askAll(folder, names)),
    ...(await metadataIn(folder, names)),
  ]);
}

/** Returns the size of each file as ImageMagick decodes it, such as `640x480`. */
export async function sizesOf(files: readonly Stored[]): Promise<string[]> {
  return written(files, async (cwd, names) => {
    const args = ['-format', '%wx%h\n', ...names];
    const { stdout } = await promisify(execFile)('identify', args, { cwd, maxBuffer: 1e8 });
    return stdout.trim().split('\n');
  });
}

async function written(
  files: readonly Stored[],
  work: (folder: string, names: readonly string[]) => Promise<string[]>,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-judged-'));
  try {
    const names = await Promise.all(
      files.flatMap(async ({ content_type, bytes }, index) => {
        const name = `${index}.${EXTENSIONS[content_type]}`;
        await writeFile(join(folder, name), bytes);
        return name;
      }),
    );
    return await work(folder, names);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const BATCH = 200;

async function askAll(folder: string, names: readonly string[]): Promise<string[]> {
  const complaints: string[] = [];
  const ask = async (command: string, args: readonly string[]) => {
    await promisify(execFile)(command, args, { cwd: folder, maxBuffer: 1e8 }).catch((error) =>
      complaints.push(`${command}: ${error.stdout}${error.stderr}`),
    );
  };
  for (let at = 0; at < names.length; at += BATCH) {
    const some = names.slice(at, at + BATCH);
    await ask('identify', ['-regard-warnings', '-format', '%m %w %h\n', ...some]);
    for (const [extension, [command = '', ...options]] of Object.entries(JUDGES)) {
      const own = some.filter((name) => name.endsWith(extension));
      if (own.length > 0) await ask(command, [...options, ...own]);
    }
    for (const name of some.filter((one) => one.endsWith('avif'))) {
      await ask('avifdec', ['--info', name]);
    }
  }
  return complaints;
}

/** Groups of tags that describe the container and its encoding, which are allowed. */
const CODING = /^(SourceFile|ExifTool|File|Composite|JFIF|APP14|PNG|RIFF|QuickTime|GIF)(:|$)/;
const METADATA =
  /^(File:Comment|File:ExifByteOrder|GIF:Comment|PNG:(.*Text|Comment|ICC|Profile|Exif|ModifyDate|Author|Software).*|RIFF:(Exif|XMP|ICC).*)/i;

async function metadataIn(folder: string, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < names.length; at += BATCH) {
    const args = ['-json', '-G0', '-a', '-u', '-ee', ...names.slice(at, at + BATCH)];
    const { stdout } = await promisify(execFile)('exiftool', args, { cwd: folder, maxBuffer: 1e9 });
    for (const tags of JSON.parse(stdout) as Record<string, unknown>[]) {
      const kept = Object.keys(tags).filter((tag) => !CODING.test(tag) || METADATA.test(tag));
      if (kept.length > 0) found.push(`exiftool: ${tags.SourceFile}: ${kept.join(' ')}`);
    }
  }
  return found;
}

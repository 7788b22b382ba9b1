/** Reads the code blocks of a document, and runs its `sh` blocks in order, in one bash and an empty folder. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launcher, projectRoot, type Tintype } from './tintype.ts';

/**
 * `name` is a file name after the language, as in `ts server.ts`; `heading` is the last heading
 * before the block.
 */
export type Fence = { language: string; name: string; heading: string; text: string };

/** Returns all fenced blocks, including those in lists. */
export function readFences(document: string): Fence[] {
  const page = readFileSync(join(projectRoot, document), 'utf8');
  return [...page.matchAll(FENCE)].map((match) => {
    const [, indent = '', , language = '', name = '', body = ''] = match;
    const heading = lastHeading(page.slice(0, match.index).replaceAll(FENCE, ''));
    return { language, name, heading, text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), '') };
  });
}

const FENCE = /^( *)(`{3,}|~{3,})(\S*) ?(.*)\n([\s\S]*?)^\1\2$/gm;

function lastHeading(before: string): string {
  return [...before.matchAll(/^#{1,6} (.+)$/gm)].at(-1)?.[1] ?? '';
}

/** Returns the commands behind the prompts of `console` blocks, with their continuation lines. */
export function readCommands(document: string, under?: string): string[] {
  return readFences(document)
    .filter(({ language, heading }) => language === 'console' && (under ?? heading) === heading)
    .flatMap(commandsIn);
}

// A command ends at a line without a trailing backslash, or at the end of its here-document.
const COMMAND = /^\$ ((?:.*\\\n)*(?:.*<<(\w+)\n[\s\S]*?^\2$|.*))/gm;

function commandsIn({ text }: Fence): string[] {
  return [...text.matchAll(COMMAND)].map(([, command = '']) => command);
}

/** Returns the `sh` blocks, which readers type, in order. */
export function readShellBlocks(document: string): string[] {
  const blocks = readFences(document).filter(({ language }) => language === 'sh');
  return blocks.map(({ text }) => text);
}

/** Returns the output of each block in order. If a block fails, throws with all output so far. */
export async function runBlocks(
  document: string,
  { folder, tintype }: { folder: string; tintype: Tintype },
): Promise<string[]> {
  const blocks = readShellBlocks(document);
  const script = [
    'set -euo pipefail',
    // Replaces `npx tintype` with the launcher of this clone, using the data folder of this run.
    'npx() { shift; "$TINTYPE_NODE" "$TINTYPE_LAUNCHER" "$@" --data "$TINTYPE_DATA"; }',
    ...blocks.map((text, index) => `{\n${text}} > output-${index}`),
  ].join('\n');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TINTYPE_NODE: process.execPath,
    TINTYPE_LAUNCHER: launcher,
    TINTYPE_DATA: tintype.data,
  };
  const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 2, 'pipe'] });
  const complaints: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => complaints.push(chunk));
  const code = await new Promise((done) => child.once('close', done));
  const printed = await Promise.all(
    blocks.map((_, index) => readFile(join(folder, `output-${index}`), 'utf8').catch(() => '')),
  );
  if (code === 0) return printed;
  throw new Error(
    `${document} ended with ${code}\n${Buffer.concat(complaints)}\n${printed.join('\n')}`,
  );
}

/** Parses the JSON objects in the output, even if they are printed without a separator. */
export function jsonIn(printed: string) {
  const texts = printed.replaceAll('}{', '}\n{').split('\n');
  return texts.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

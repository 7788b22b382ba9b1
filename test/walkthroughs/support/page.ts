/** Parses the chapters of a walkthrough: the alerts that each expects, its commands, and their output. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectRoot } from '../../contract/support/tintype.ts';

/**
 * `rings` are the expected alerts in order; `typed` are the command blocks, each with the output
 * block after it.
 */
export type Chapter = { rings: string[]; typed: { commands: string; seen: string }[] };

/** Returns the chapters by their title: that of `## 2. The broker …` is `The broker …`. */
export function readChapters(document: string): Map<string, Chapter> {
  const page = readFileSync(join(projectRoot, document), 'utf8');
  const parts = page.split(/^## \d+\. /m).slice(1);
  return new Map(parts.map((part) => [part.split('\n', 1)[0] ?? '', readChapter(part)]));
}

function readChapter(part: string): Chapter {
  const [, rings = ''] = /^- \*\*Rings\*\* (.*)$/m.exec(part) ?? [];
  const blocks = [...part.matchAll(/^```sh\n([\s\S]*?)^```\n+```\w+\n([\s\S]*?)^```$/gm)];
  const sh = part.match(/^```sh$/gm) ?? [];
  if (sh.length !== blocks.length) throw new Error(`a block shows nothing behind it:\n${part}`);
  return {
    rings: [...rings.matchAll(/\[(Tintype\w+)\]/g)].map(([, name = '']) => name),
    typed: blocks.map(([, commands = '', seen = '']) => ({ commands, seen })),
  };
}

/**
 * Away from the clone: a command would take a Tintype that runs there for the one that its environment names.
 */
export const AWAY = tmpdir();

/** Returns the output of the commands, stdout and stderr. Ignores exit codes. */
export async function type(
  commands: string,
  env: Record<string, string | undefined>,
): Promise<string> {
  const child = spawn('bash', ['-c', `exec 2>&1\n${commands}`], {
    env,
    cwd: AWAY,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return text(child.stdout);
}

/**
 * Converts an output block to a pattern: `…` matches anything within a line, and a line `…` matches
 * any lines.
 */
export function showsAs(seen: string): RegExp {
  const lines = seen.trimEnd().split('\n');
  const patterns = lines.map((line) =>
    line === '…' ? '[\\s\\S]*' : line.split('…').map(literally).join('.*'),
  );
  return new RegExp(`^${patterns.join('\\n')}\\s*$`);
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

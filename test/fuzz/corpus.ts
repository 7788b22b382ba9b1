/**
 * The stored inputs of each target: every finding in a file named by its digest, and in `kept.json` some inputs that
 * gave different results. Texts are stored as JSON, which can represent unpaired surrogates.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Input, Target } from './target.ts';

export const CORPUS = join(import.meta.dirname, 'corpus');
const KEPT = 'kept.json';
const KEPT_MAX = 16;
const KEPT_LENGTH_MAX = 512;

type Of = Pick<Target, 'name' | 'kind'>;

/** Returns each input with its file. */
export function readCorpus({ name, kind }: Of): { input: Input; file: string }[] {
  const folder = join(CORPUS, name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => {
      const content = readFileSync(join(folder, file));
      const inputs = file === KEPT ? parseKept(kind, content) : [parseFinding(kind, content)];
      return inputs.map((input) => ({ input, file: `${name}/${file}` }));
    });
}

/** Returns the path of the new file. */
export function writeFinding({ name, kind }: Of, input: Input): string {
  const content = typeof input === 'string' ? `${JSON.stringify(input)}\n` : input;
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const file = join(CORPUS, name, `${digest}.${kind === 'text' ? 'json' : 'bin'}`);
  mkdirSync(join(CORPUS, name), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Keeps short inputs of various lengths; a run creates long ones again from the seeds. */
export function writeKept({ name }: Of, inputs: readonly Input[]): void {
  const short = inputs
    .filter(({ length }) => length <= KEPT_LENGTH_MAX)
    .toSorted((one, other) => one.length - other.length);
  const step = Math.max(1, Math.ceil(short.length / KEPT_MAX));
  const kept = short.filter((_, at) => at % step === 0).map(print);
  if (kept.length === 0) return;
  mkdirSync(join(CORPUS, name), { recursive: true });
  writeFileSync(join(CORPUS, name, KEPT), `${JSON.stringify(kept, null, 2)}\n`);
}

function print(input: Input): string {
  return typeof input === 'string' ? input : input.toString('base64');
}

function parseKept(kind: Target['kind'], content: Buffer): Input[] {
  const kept = JSON.parse(content.toString()) as string[];
  return kind === 'text' ? kept : kept.map((one) => Buffer.from(one, 'base64'));
}

function parseFinding(kind: Target['kind'], content: Buffer): Input {
  return kind === 'text' ? (JSON.parse(content.toString()) as string) : content;
}

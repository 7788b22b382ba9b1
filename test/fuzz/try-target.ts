/** Runs one input through one parser, and returns the outcome or the defect. */
import type { Input, Target } from './target.ts';

export type Tried =
  /** `shape` is a short description of the result, equal for similar results. */
  | { outcome: 'taken' | 'refused'; shape: string }
  /** `site` identifies the defect. */
  | { outcome: 'broken'; site: string; error: unknown };

export async function tryTarget({ run, refuses }: Target, input: Input): Promise<Tried> {
  try {
    const answer = run(input);
    const read = answer instanceof Promise ? await answer : answer;
    return { outcome: read === undefined ? 'refused' : 'taken', shape: shapeOf(read, 0) };
  } catch (error) {
    if (refuses(error)) return { outcome: 'refused', shape: wordsOf(error) };
    return { outcome: 'broken', site: `${wordsOf(error)} ${placeOf(error)}`, error };
  }
}

/** Leaves out numbers and quoted parts, which vary between inputs. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  return `${code} ${error.message
    .slice(0, 200)
    .replaceAll(/["'`].*["'`]|\S*\d\S*/gs, '0')
    .slice(0, 60)}`;
}

/** The innermost stack frame in this project's code. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return /\/((?:runtime|operator|test)\/[^\s):]+:\d+)/.exec(stack)?.[1] ?? '';
}

const DEPTH_MAX = 3;
const FIELDS_MAX = 12;
const magnitude = (size: number) => Math.ceil(Math.log2(Math.abs(size) + 1));

function shapeOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return `s${magnitude(value.length)}`;
  if (typeof value === 'number') return `n${magnitude(value)}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Uint8Array) return `b${magnitude(value.length)}`;
  if (depth === DEPTH_MAX) return 'o';
  if (Array.isArray(value)) return `[${magnitude(value.length)} ${shapeOf(value[0], depth + 1)}]`;
  const fields = Object.entries(value)
    .slice(0, FIELDS_MAX)
    .map(([name, field]) => `${depth === 0 ? name : ''}${shapeOf(field, depth + 1)}`);
  return `{${fields.join()}}`;
}

/** Sends hostile files to real decoders and records the outcomes. */
import { createLog } from '../../runtime/platform/log.ts';
import { readIngestAnswer } from '../../runtime/worker/ingest/read-answer.ts';
import { createSandbox, type Sandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import type { HostileFile } from './hostile-corpus.ts';

export type Outcome = {
  file: HostileFile;
  /** `ready`, an error code, or how the decoder process failed. */
  result: string;
  ms: number;
  /** The stored and delivered images, if the result is `ready`. */
  stored: { content_type: string; bytes: Buffer; width: number; height: number }[];
};

export const DECODERS = 2;

export function startDecoders(): Sandbox {
  return createSandbox({
    slots: DECODERS,
    wall_clock_ms: 60_000,
    memory_bytes: 2_000_000_000,
    jobs_per_child: 1_000_000,
    log: createLog({ level: 'silent', name: 'test' }),
  });
}

/** Processes the files concurrently, one per decoder, and yields outcomes as they complete. */
export async function* outcomesOf(
  sandbox: Sandbox,
  files: AsyncIterable<HostileFile>,
): AsyncGenerator<Outcome> {
  const running = new Set<Promise<Outcome>>();
  for await (const file of files) {
    const one = ingest(sandbox, file).finally(() => running.delete(one));
    running.add(one);
    if (running.size >= DECODERS) yield await Promise.race(running);
  }
  while (running.size > 0) yield await Promise.race(running);
}

export async function ingest(sandbox: Sandbox, file: HostileFile): Promise<Outcome> {
  const begin = performance.now();
  const outcome = await resultOf(sandbox, file);
  return { file, ...outcome, ms: performance.now() - begin };
}

async function resultOf(sandbox: Sandbox, { content_type, bytes }: HostileFile) {
  const job = { kind: 'ingest', facts: { content_type }, parts: [bytes] };
  try {
    const { master, mezzanines, ...facts } = readIngestAnswer(await sandbox.run(job));
    return { result: 'ready', stored: [{ ...facts, bytes: master }, ...mezzanines] };
  } catch (error) {
    return { result: codeOf(error), stored: [] };
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if ('code' in error) return String(error.code);
  return 'reason' in error ? String(error.reason) : String(error);
}

/** Prints a table of the outcomes per family. */
export function printTable(outcomes: readonly Pick<Outcome, 'file' | 'result'>[]): string {
  const results = [...new Set(outcomes.map(({ result }) => result))].toSorted();
  const families = [...new Set(outcomes.map(({ file }) => file.family))];
  const line = (name: string, cells: readonly (string | number)[]) =>
    name.padEnd(18) + cells.map((cell) => String(cell).padStart(24)).join('');
  const rows = [...families, 'all'].map((family) => {
    const some = outcomes.filter(({ file }) => family === 'all' || file.family === family);
    const counts = results.map((one) => some.filter(({ result }) => result === one).length);
    return line(family, [some.length, ...counts]);
  });
  return [line('family', ['files', ...results]), ...rows].join('\n');
}

/** Starts the programs in this folder, with one JSON argument. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Spawned = {
  child: ChildProcess;
  /** The lines printed so far. */
  lines: string[];
  /** Resolves when the program has ended for any reason. */
  ended: Promise<{ code: number | null; signal: string | null }>;
};

export type Program =
  | 'stopping-worker'
  | 'stopping-api'
  | 'taking-worker'
  | 'deadly-worker'
  | 'sending-delivery';

export function startProgram(program: Program, words: object): Spawned {
  const file = fileURLToPath(new URL(`./${program}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(words)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return { child, lines, ended };
}

/** Waits for the first output. Throws if the program ends before it. */
export async function untilReady({ child, ended }: Spawned): Promise<void> {
  const isReady = once(child.stdout ?? child, 'data').then(() => undefined);
  const how = await Promise.race([isReady, ended]);
  if (how !== undefined) throw new Error(`it ended with ${how.signal ?? how.code}`);
}

/** Stops the program with SIGTERM. Throws if it does not exit cleanly. */
export async function endWell({ child, ended }: Spawned): Promise<void> {
  child.kill('SIGTERM');
  const { code, signal } = await ended;
  if (code !== 0) throw new Error(`it ended with ${signal ?? code}`);
}

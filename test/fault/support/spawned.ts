/** Starts the programs in this folder with one JSON argument; they end as they are told or by a signal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Spawned = {
  child: ChildProcess;
  /** The printed lines. */
  lines: string[];
  /** Resolves when the program has ended, for whatever reason. */
  ended: Promise<{ code: number | null; signal: string | null }>;
};

export type Program = 'stopping-worker' | 'stopping-api' | 'taking-worker' | 'sending-delivery';

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

/** Waits for the first output; throws if the program ends before that. */
export async function untilReady({ child, ended }: Spawned): Promise<void> {
  const isReady = once(child.stdout ?? child, 'data').then(() => undefined);
  const how = await Promise.race([isReady, ended]);
  if (how !== undefined) throw new Error(`it ended with ${how.signal ?? how.code}`);
}

/** Stops it as a deployment does; throws if it does not exit cleanly. */
export async function endWell({ child, ended }: Spawned): Promise<void> {
  child.kill('SIGTERM');
  const { code, signal } = await ended;
  if (code !== 0) throw new Error(`it ended with ${signal ?? code}`);
}

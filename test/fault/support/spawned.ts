/** The programs beside this file: started with one word of JSON, ended by what they are told or by a signal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Spawned = {
  child: ChildProcess;
  /** What it printed, line by line. */
  lines: string[];
  /** Once, whatever ended it. */
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

/** When it has said so; throws where it ends before. */
export async function untilReady({ child, ended }: Spawned): Promise<void> {
  const isReady = once(child.stdout ?? child, 'data').then(() => undefined);
  const how = await Promise.race([isReady, ended]);
  if (how !== undefined) throw new Error(`it ended with ${how.signal ?? how.code}`);
}

/** As a deploy ends it; throws where it does not end well. */
export async function endWell({ child, ended }: Spawned): Promise<void> {
  child.kill('SIGTERM');
  const { code, signal } = await ended;
  if (code !== 0) throw new Error(`it ended with ${signal ?? code}`);
}

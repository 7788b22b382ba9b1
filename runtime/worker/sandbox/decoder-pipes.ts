/** The pipes between a decoder and its parent: writing, its error output, and how it ended. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

export type Pipes = { child: ChildProcess; input: Writable; answers: Readable; errors: Errors };
type Errors = { last(): string; forget(): void };

const STDERR_CHARACTERS_MAX = 2000;
/**
 * Since the last job began. Libraries warn in lines; a compromised decoder could keep its parent
 * reading.
 */
const STDERR_CHARACTERS_READ_MAX = 4_194_304;

/** `onFlood` is called when the error output exceeds its limit. */
export function openPipes(child: ChildProcess, onFlood: () => void): Pipes {
  const [input, , errors, answers] = child.stdio;
  if (!input || !errors || !answers) throw new Error('a decoder was started without its pipes');
  for (const pipe of [input, errors, answers]) pipe.on('error', () => undefined);
  return {
    child,
    input: input as Writable,
    answers: answers as Readable,
    errors: readErrors(errors as Readable, onFlood),
  };
}

function readErrors(pipe: Readable, onFlood: () => void): Errors {
  let text = '';
  let characters = 0;
  pipe.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-STDERR_CHARACTERS_MAX);
    characters += chunk.length;
    if (characters > STDERR_CHARACTERS_READ_MAX) onFlood();
  });
  const forget = () => {
    characters = 0;
  };
  return { last: () => text, forget };
}

/** A broken pipe is ignored: how the child ended says more. */
export async function write(input: Writable, chunk: Uint8Array): Promise<void> {
  if (input.destroyed || input.write(chunk)) return;
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(input, 'drain', { signal }), once(input, 'close', { signal })])
    .catch(() => undefined)
    .finally(() => settled.abort());
}

const OUTPUT_END_MS_MAX = 500;

/** Waits, because a process may be gone before all its output was read. */
export async function waitForOutputEnd(answers: Readable): Promise<void> {
  if (answers.closed) return;
  await once(answers, 'close', { signal: AbortSignal.timeout(OUTPUT_END_MS_MAX) }).catch(
    () => undefined,
  );
}

export function whenExited(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`before it began: ${error.message}`));
    child.once('exit', (code, signal) => resolve(String(code ?? signal)));
  });
}

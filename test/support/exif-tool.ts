/**
 * Runs ExifTool as one long-lived process per test process, because it takes longer to start than to read an image. It
 * ends with the process that started it, even if that is killed.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

const READY = '{ready}\n';
const STATUS = /\{status (\d+)\}\n$/;

let tool: ChildProcessWithoutNullStreams | undefined;
let line: Promise<unknown> = Promise.resolve();

/**
 * Returns the output of ExifTool for these arguments, or throws its error output. The arguments
 * must not contain `-q`, which suppresses the `{ready}` line. Calls run one at a time.
 */
export function askExifTool(words: readonly string[]): Promise<string> {
  const answer = line.then(() => call(words));
  line = answer.catch(() => undefined);
  return answer;
}

async function call(words: readonly string[]): Promise<string> {
  tool ??= start();
  const { stdout, stderr } = await exchange(tool, words);
  const status = STATUS.exec(stderr)?.[1];
  if (status !== '0') throw new Error(`exiftool ended with ${status}: ${stderr}`);
  return stdout.slice(0, -READY.length);
}

function start(): ChildProcessWithoutNullStreams {
  const words = ['--pdeathsig', 'KILL', 'exiftool', '-stay_open', 'True', '-@', '-'];
  const child = spawn('setpriv', words);
  child.stdin.on('error', () => undefined);
  child.once('close', () => {
    tool = undefined;
  });
  return child;
}

type Said = { stdout: string; stderr: string };

async function exchange(
  child: ChildProcessWithoutNullStreams,
  words: readonly string[],
): Promise<Said> {
  const pipes = [child, child.stdin, child.stdout, child.stderr] as (Socket | typeof child)[];
  for (const pipe of pipes) pipe.ref();
  const ended = new AbortController();
  const end = (why: unknown) => ended.abort(new Error(`exiftool ended: ${why}`));
  child.once('close', end).once('error', end);
  try {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: ExifTool replaces this with its exit status.
    const all = ['-echo4', '{status ${status}}', '-execute'];
    child.stdin.write(`${[...words, ...all].join('\n')}\n`);
    const [stdout, stderr] = await Promise.all([
      readUntil(child.stdout, (text) => text.endsWith(READY), ended.signal),
      readUntil(child.stderr, (text) => STATUS.test(text), ended.signal),
    ]);
    return { stdout, stderr };
  } finally {
    child.off('close', end).off('error', end);
    // An idle ExifTool must not keep this process alive.
    for (const pipe of pipes) pipe.unref();
  }
}

function readUntil(
  stream: NodeJS.ReadableStream,
  isAll: (text: string) => boolean,
  ended: AbortSignal,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const hear = (chunk: Buffer) => {
    chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (isAll(text)) resolve(text);
  };
  const fail = () => reject(ended.reason);
  stream.on('data', hear);
  ended.addEventListener('abort', fail);
  return promise.finally(() => {
    stream.off('data', hear);
    ended.removeEventListener('abort', fail);
  });
}

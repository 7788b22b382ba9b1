/**
 * A model in its own process, which is started with the first image and ended after a minute without one. It scans one
 * image at a time; if it takes too long, it is killed and started again for the next image. Spec: File (status), the
 * automatic scanner.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Rendition } from '../../core/delivery/preview-request.ts';
import { SCAN_PICTURE_PIXELS, SCAN_TIMEOUT_SECONDS } from '../../core/limits.ts';
import type { Scores } from '../../core/scan-flags.ts';
import { Advice } from '../advice.ts';
import type { Clock } from '../clock.ts';
import { type Scanner, ScannerFault } from './scanner.ts';
import { withCircuitBreaker } from './with-circuit-breaker.ts';

export type EmbeddedScannerOptions = {
  clock: Clock;
  /** The module that the process runs; only tests set it. */
  entry?: URL;
  deadline_ms?: number;
  start_ms?: number;
  idle_ms?: number;
};

const RENDITION: Rendition = {
  fit: 'box',
  pixels: SCAN_PICTURE_PIXELS,
  format: 'jpeg',
  quality: 90,
};
const ENTRY = new URL('../../worker/scanner/child.ts', import.meta.url);
const START_MS = 30_000;
const IDLE_MS = 60_000;
const SAID_CHARACTERS_MAX = 2000;

/** Throws Advice when its packages are not installed. */
export function openEmbeddedScanner(options: EmbeddedScannerOptions): Scanner {
  requirePackages();
  const { deadline_ms = SCAN_TIMEOUT_SECONDS * 1000, idle_ms = IDLE_MS } = options;
  let model: Model | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;
  const scan = async (picture: Uint8Array, signal: AbortSignal): Promise<Scores> => {
    signal.throwIfAborted();
    if (model === undefined || model.hasEnded()) model = await startModel(options, signal);
    return model.scan(picture, AbortSignal.any([signal, AbortSignal.timeout(deadline_ms)]));
  };
  const rest = () => {
    clearTimeout(idle);
    idle = setTimeout(() => model?.stop(), idle_ms).unref();
  };
  const inTurn = (picture: Uint8Array, signal: AbortSignal) => {
    clearTimeout(idle);
    const mine = turn.then(() => scan(picture, signal));
    turn = mine.catch(() => undefined).finally(rest);
    return mine;
  };
  return withCircuitBreaker({ rendition: RENDITION, scan: inTurn }, options.clock);
}

function requirePackages(): void {
  try {
    createRequire(import.meta.url).resolve('nsfwjs');
  } catch (cause) {
    const advice =
      'TINTYPE_SCANNER is embedded, and its packages were left out: install them with `npm ci`, without --omit=optional';
    throw new Advice(advice, { cause });
  }
}

type Model = {
  hasEnded(): boolean;
  /** One scan at a time. */
  scan(picture: Uint8Array, signal: AbortSignal): Promise<Scores>;
  stop(): void;
};

const answer = z.union([
  z.object({ scores: z.record(z.string(), z.number().min(0).max(1)) }),
  z.object({ refused: z.string() }),
]);

/** Starts with an empty environment, as the model needs no addresses or secrets. */
async function startModel(
  { entry = ENTRY, start_ms = START_MS }: EmbeddedScannerOptions,
  signal: AbortSignal,
): Promise<Model> {
  const child = fork(fileURLToPath(entry), [], {
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const said = listenTo(child);
  try {
    await messageOf(child, AbortSignal.any([signal, AbortSignal.timeout(start_ms)]));
  } catch (cause) {
    child.kill('SIGKILL');
    signal.throwIfAborted();
    throw new ScannerFault('away', `did not start: ${said() || String(cause)}`, { cause });
  }
  unrefChild(child);
  return modelOf(child, said);
}

function modelOf(child: ChildProcess, said: () => string): Model {
  return {
    // A killed process may still exist for a moment.
    hasEnded: () =>
      child.killed || child.exitCode !== null || child.signalCode !== null || !child.connected,
    stop: () => child.disconnect(),
    scan: async (picture, signal) => {
      refChild(child);
      try {
        const answered = messageOf(child, signal);
        child.send(picture, () => undefined);
        return scoresOf(await answered);
      } catch (error) {
        if (error instanceof ScannerFault) throw error;
        child.kill('SIGKILL');
        throw faultOf(error, { signal, said: said() });
      } finally {
        unrefChild(child);
      }
    },
  };
}

/** The child's next message. Rejects when the child ends first, or the signal aborts. */
async function messageOf(child: ChildProcess, signal: AbortSignal): Promise<unknown> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const ended = once(child, 'exit', { signal: until }).then(([code, killed]) => {
    throw new Error(`ended with ${code ?? killed}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: until }), ended]);
    return message;
  } finally {
    over.abort();
  }
}

function scoresOf(message: unknown): Scores {
  const said = answer.parse(message);
  if ('refused' in said)
    throw new ScannerFault('refused', `cannot scan this picture: ${said.refused}`);
  return said.scores;
}

/**
 * A scan that takes too long may be due to a busy machine; a process that ended over an image would
 * do so again.
 */
function faultOf(cause: unknown, { signal, said }: { signal: AbortSignal; said: string }) {
  if (!signal.aborted)
    return new ScannerFault('refused', `ended while it scanned this picture ${said}`.trim(), {
      cause,
    });
  const isLate = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  return isLate ? new ScannerFault('away', 'gave no answer in time', { cause }) : signal.reason;
}

/** Returns the last error output of the child. */
function listenTo(child: ChildProcess): () => string {
  let text = '';
  child.on('error', (error) => {
    text = String(error);
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-SAID_CHARACTERS_MAX);
  });
  return () => text.trim();
}

/** Keeps our process alive while it waits for an answer. */
function refChild(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}

/** Lets our process end while nothing is awaited. */
function unrefChild(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
}

/**
 * Ends a process: the first SIGTERM, SIGINT or SIGHUP stops all parts, newest first, each within its deadline; the
 * second one ends the process at once. A signal right behind the first is its echo: a terminal sends Ctrl-C to the
 * whole group, and make, npx and our launcher also pass it on. Node undoes the setting of `nohup` before this code
 * runs, so SIGHUP ends a process in any case, here cleanly.
 */
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.ts';
import { withTimeout } from './with-timeout.ts';

export type Lifecycle = {
  /**
   * Starts the parts. A stop requested meanwhile interrupts the start at its next part and waits
   * for it; the promise then still resolves, also if the start fails.
   */
  start(work: () => Promise<void>): Promise<void>;
  /** Registers a part to be stopped; parts started later are stopped earlier. */
  onStop(name: string, stop: () => Promise<unknown> | unknown): void;
  /** Waits; a start that has been told to stop ends here. */
  pause(ms: number): Promise<void>;
  /** Stops everything, once only; resolves to 0, or to 1 when a part failed or took too long. */
  stop(): Promise<number>;
  /** Resolves with the exit code when everything has stopped, whoever requested it. */
  stopped: Promise<number>;
};

type Part = { name: string; stop: () => Promise<unknown> | unknown };
type Options = {
  log: Log;
  part_deadline_ms?: number;
  /**
   * The limit for all parts together. A supervisor that kills the process earlier prevents a clean
   * end.
   */
  deadline_ms?: number;
  echo_ms?: number;
  /** How long the process may live on after all parts have stopped. */
  held_ms?: number | undefined;
  process?: SignalSource;
};
type SignalSource = Pick<NodeJS.Process, 'on' | 'off' | 'exit'>;

const PART_DEADLINE_MS = 20_000;
const ECHO_MS = 500;
const HELD_MS = 2_000;
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
type Signal = (typeof signals)[number];

export function createLifecycle({ log, ...options }: Options): Lifecycle {
  const target = options.process ?? process;
  const partMs = options.part_deadline_ms ?? PART_DEADLINE_MS;
  const { deadline_ms = Number.POSITIVE_INFINITY } = options;
  const parts: Part[] = [];
  const { promise: stopped, resolve } = Promise.withResolvers<number>();
  const asked = new AbortController();
  let started: Promise<unknown> = Promise.resolve();
  const stop = () => {
    if (!asked.signal.aborted) {
      asked.abort();
      const stopping = started.then(() => {
        return stopParts(parts, { log, partMs, endsAt: performance.now() + deadline_ms });
      });
      void stopping.then((code) => {
        release();
        resolve(code);
      });
    }
    return stopped;
  };
  const start = (work: () => Promise<void>) => {
    const running = work().catch((error: unknown) => {
      if (error instanceof StartInterrupted) return;
      if (!asked.signal.aborted) throw error;
      // Ctrl-C may also end a program that the start had just begun.
      log.info('the start failed while it was being stopped', { error });
    });
    started = running.catch(() => undefined);
    return running;
  };
  const onStop: Lifecycle['onStop'] = (name, stopPart) => {
    parts.push({ name, stop: stopPart });
    if (asked.signal.aborted) throw new StartInterrupted();
  };
  const pause: Lifecycle['pause'] = async (ms) => {
    await sleep(ms, undefined, { signal: asked.signal }).catch(() => undefined);
    if (asked.signal.aborted) throw new StartInterrupted();
  };
  const { echo_ms = ECHO_MS } = options;
  const release = listen(target, answerSignals({ log, target, echo_ms, stop }));
  return { start, onStop, pause, stop, stopped };
}

type Answering = { log: Log; target: SignalSource; echo_ms: number; stop: () => unknown };

function answerSignals({ log, target, echo_ms, stop }: Answering) {
  let firstSignalAt = Number.POSITIVE_INFINITY;
  return (signal: Signal) => {
    if (firstSignalAt === Number.POSITIVE_INFINITY) {
      firstSignalAt = performance.now();
      log.info('stopping', { signal });
      void stop();
    } else if (isUrgent(signal) && performance.now() - firstSignalAt > echo_ms) {
      target.exit(128 + constants.signals[signal]);
    }
  };
}

/**
 * When a terminal closes, the shell and the kernel both send SIGHUP, and nobody is there to wait.
 */
function isUrgent(signal: Signal): boolean {
  return signal !== 'SIGHUP';
}

/**
 * Runs a process from start to end. Parts that do not stop in time are not waited for: other
 * processes take over their work when their leases end.
 */
export async function runProcess(
  options: Options,
  start: (lifecycle: Lifecycle) => Promise<void>,
): Promise<void> {
  const lifecycle = createLifecycle(options);
  try {
    await lifecycle.start(() => start(lifecycle));
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
  const code = await lifecycle.stopped;
  if (code === 0) endHeld(options);
  else (options.process ?? process).exit(code);
}

/**
 * A stopped process ends by itself, unless a resource is open that no part knows; that is logged
 * and not waited for.
 */
function endHeld({ log, process: target = process, held_ms = HELD_MS }: Options): void {
  const end = () => {
    const reason = process.getActiveResourcesInfo().toSorted().join(' ');
    log.warn('all parts have stopped but something keeps the process alive: exiting', { reason });
    target.exit(0);
  };
  setTimeout(end, held_ms).unref();
}

class StartInterrupted extends Error {
  constructor() {
    super('the process was told to stop while it started');
  }
}

function listen(target: SignalSource, onSignal: (signal: Signal) => void) {
  for (const signal of signals) target.on(signal, onSignal);
  return () => {
    for (const signal of signals) target.off(signal, onSignal);
  };
}

type Stopping = { log: Log; partMs: number; endsAt: number };

/** Even when the time is up, a part that can stop at once gets the chance. */
const PART_MS_MIN = 250;

async function stopParts(parts: Part[], stopping: Stopping): Promise<number> {
  let code = 0;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (!(await stopPart(part, stopping))) code = 1;
  }
  return code;
}

/**
 * Whether the part stopped in time and without an error; the other parts are stopped in any case.
 */
async function stopPart(part: Part, { log, partMs, endsAt }: Stopping): Promise<boolean> {
  const left = Math.max(endsAt - performance.now(), PART_MS_MIN);
  const deadlineMs = Math.round(Math.min(partMs, left));
  const late = () => new Error(`not stopped in ${deadlineMs} ms`);
  const began = performance.now();
  try {
    await withTimeout((async () => part.stop())(), deadlineMs, late);
    const duration_ms = Math.round(performance.now() - began);
    log.debug('a part stopped', { part: part.name, duration_ms });
    return true;
  } catch (error) {
    log.error('a part of the process did not stop', { part: part.name, error });
    return false;
  }
}

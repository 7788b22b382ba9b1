/**
 * The workers of a controller: as many concurrent passes as the queue allows, each told to stop when it takes too long
 * or the process ends. An error of a pass is logged and counted, and the pass retried later.
 */
import type { Log } from '../../runtime/platform/log.ts';
import { NotLeading } from './leader-client.ts';
import type { KubeMetrics, ReconcileResult } from './metrics.ts';
import type { TimedClock } from './timed-clock.ts';
import type { Outcome, TakenKey, WorkQueue } from './work-queue.ts';

export type Pass = TakenKey & { signal: AbortSignal };

export type Workers = {
  /** Takes no more keys, tells the passes to stop, and resolves when they have. */
  stop(): Promise<void>;
};

export type WorkersOptions = {
  controller: string;
  queue: WorkQueue;
  /** One pass over one key; throws if it must be retried. */
  reconcile(pass: Pass): Promise<Outcome>;
  clock: TimedClock;
  log: Log;
  metrics: KubeMetrics;
  /** The maximum number of workers, as set for the queue. */
  concurrency: number;
};

const PASS_MS_MAX = 120_000;
/** Passes that never wait would starve timers and sockets. */
const PASSES_A_TURN = 64;

export function runWorkers(options: WorkersOptions): Workers {
  const { queue, metrics, controller } = options;
  const stopped = new AbortController();
  const passes = new Set<Promise<void>>();
  metrics.concurrency(controller, options.concurrency);
  const pump = () => {
    for (let taken = next(); taken !== undefined; taken = next()) {
      const pass = runPass(options, taken, stopped.signal);
      passes.add(pass);
      void pass.finally(() => passes.delete(pass));
    }
  };
  let left = PASSES_A_TURN;
  const next = () => {
    if (stopped.signal.aborted || left === 0) return undefined;
    const taken = queue.take();
    if (taken === undefined) return undefined;
    left -= 1;
    if (left === 0) setImmediate(goOn);
    return taken;
  };
  const goOn = () => {
    left = PASSES_A_TURN;
    pump();
  };
  queue.onWork(pump);
  pump();
  return {
    stop: async () => {
      stopped.abort();
      queue.close();
      await Promise.all(passes);
    },
  };
}

async function runPass(
  options: WorkersOptions,
  taken: TakenKey,
  stopped: AbortSignal,
): Promise<void> {
  const { clock, metrics, controller, queue } = options;
  const late = new AbortController();
  const cancel = clock.after(PASS_MS_MAX, () => {
    metrics.reconcileTimedOut(controller);
    late.abort(new Error('the pass takes too long'));
  });
  const began = clock.elapsed();
  const stop = () => late.abort(stopped.reason);
  if (stopped.aborted) stop();
  stopped.addEventListener('abort', stop, { once: true });
  const outcome = await attempt(options, { ...taken, signal: late.signal });
  // All passes listen to one signal, so each must remove its listener.
  stopped.removeEventListener('abort', stop);
  cancel();
  const seconds = (clock.elapsed() - began) / 1000;
  metrics.reconciled({ controller, result: RESULTS[outcome.kind], seconds });
  queue.done(taken.key, outcome);
}

const RESULTS: Readonly<Record<Outcome['kind'], ReconcileResult>> = {
  done: 'success',
  requeue: 'requeue_after',
  'back-off': 'requeue_after',
  failed: 'error',
};

/** A pass that throws synchronously must not end the process. */
async function attempt(options: WorkersOptions, pass: Pass): Promise<Outcome> {
  const { reconcile, log, metrics, controller } = options;
  try {
    return await reconcile(pass);
  } catch (error) {
    if (pass.signal.aborted || error instanceof NotLeading) return { kind: 'failed' };
    if (isDefect(error)) metrics.reconcilePanicked(controller);
    log.error('a pass failed', {
      kind: controller,
      name: pass.key,
      attempts: pass.failures + 1,
      error,
    });
    return { kind: 'failed' };
  }
}

function isDefect(error: unknown): boolean {
  const isOurs = error instanceof TypeError || error instanceof ReferenceError;
  return isOurs || error instanceof RangeError || !(error instanceof Error);
}

/**
 * Slots of killable child processes for work on untrusted bytes. A crash, a hang, garbage or excessive memory costs one
 * attempt of one job; jobs wait in order for a free slot. One child more than work is ready, and no other is started
 * ahead of its job.
 */
import type { Log, LogFields } from '../../platform/log.ts';
import { traced } from '../../platform/tracing/spans.ts';
import { withAbortHandler } from '../../platform/with-abort-handler.ts';
import type { Admission } from './admission.ts';
import { type SandboxChild, startChild } from './child-process.ts';
import { SandboxFailure, type SandboxFailureReason } from './sandbox-failure.ts';

export type Sandbox = {
  /** Throws SandboxFailure, the error of a part's chunks, or the signal's reason. */
  run(job: SandboxJob): Promise<SandboxResult>;
  /** Kills the children; running and waiting jobs fail. */
  close(): Promise<void>;
};

export type SandboxJob = {
  kind: string;
  /** Small JSON: what the handler of this kind needs besides the bytes. */
  facts: object;
  parts: readonly SandboxPart[];
  signal?: AbortSignal;
  /** The log fields when a decoder fails at this job. */
  about?: LogFields;
};
/**
 * A stream that breaks off or throws never becomes a complete job: the child is killed before it
 * begins.
 */
export type SandboxPart = Uint8Array | { size_bytes: number; chunks: AsyncIterable<Uint8Array> };
export type SandboxResult = { facts: Record<string, unknown>; parts: Buffer[] };

export type SandboxOptions = {
  slots: number;
  /**
   * From the last byte of input to the answer of a started child, without the time it waited for a
   * core; also the longest pause between two pieces of input.
   */
  wall_clock_ms: number;
  /** Resident memory of one child. */
  memory_bytes: number;
  jobs_per_child: number;
  /**
   * How long a child that grew large may be idle before a fresh one replaces it; default half a
   * minute.
   */
  rest_ms?: number;
  /** Shared by all sandboxes that share the memory; without it, every slot may be full at once. */
  admission?: Admission;
  log: Log;
  /** For all parts of one answer together. */
  answer_bytes_max?: number;
  /** The program of the children; tests use their own. */
  entry?: URL;
  /** Added to the otherwise empty environment, for example an allocator to preload. */
  environment?: Readonly<Record<string, string>>;
  /** The niceness of the children on a machine whose servers run at the usual priority; default 10. */
  nice?: number;
  /** Called for each child that broke a rule or died. */
  onKilled?: (reason: SandboxFailureReason) => void;
};

export function createSandbox(options: SandboxOptions): Sandbox {
  const slots = Array.from({ length: options.slots }, () => createSlot(options, () => warmNext()));
  const line = createLine(slots);
  const warmNext = () => line.next()?.warmAhead();
  warmNext();
  const runIn = async (slot: Slot, job: SandboxJob) => {
    try {
      const child = slot.take();
      warmNext();
      // The span covers all work on an image from outside: the child itself creates no spans.
      return await traced(`decoder ${job.kind}`, {}, () => child.run(job));
    } catch (error) {
      if (error instanceof SandboxFailure) report(options, error, job);
      throw error;
    } finally {
      await slot.renew();
      line.release(slot);
      warmNext();
    }
  };
  return {
    run: async (job) => runIn(await line.acquire(job.signal), job),
    close: async () => {
      line.close();
      await Promise.all(slots.map((slot) => slot.close()));
    },
  };
}

function report(
  { log, onKilled }: SandboxOptions,
  failure: SandboxFailure,
  { kind, about }: SandboxJob,
): void {
  const { reason } = failure;
  if (reason === 'unstarted') {
    log.error('decoders do not start: see their output, and run tintype doctor', {
      error: failure,
    });
  } else log.warn('a decoder failed', { ...about, kind, reason, error: failure });
  onKilled?.(reason);
}

const REST_MS = 30_000;
/** A fresh child uses less; one that decoded a large image keeps more than it gives back. */
const RESTING_BYTES_MAX = 128 * 1024 * 1024;

type Slot = ReturnType<typeof createSlot>;

/** A place for one child; `onEmptied` is called when a child that grew large was stopped at rest. */
function createSlot(options: SandboxOptions, onEmptied: () => void) {
  let child: SandboxChild | undefined;
  let rest: NodeJS.Timeout | undefined;
  let isClosed = false;
  const warm = () => {
    if (!isClosed && child?.isUsable() !== true) child = startChild(options);
  };
  /** An error at the start of a child is left to the job that needs it. */
  const warmAhead = () => {
    try {
      warm();
    } catch (error) {
      if (!(error instanceof SandboxFailure)) throw error;
    }
  };
  const shrink = () => {
    if (isClosed || child === undefined || child.residentBytes() <= RESTING_BYTES_MAX) return;
    const large = child;
    child = undefined;
    void large.stop();
    onEmptied();
  };
  return {
    /** Starts a child, unless there is one. */
    warmAhead,
    take: (): SandboxChild => {
      clearTimeout(rest);
      warm();
      if (child === undefined) throw new SandboxFailure('crashed', 'the sandbox is closed');
      return child;
    },
    /** After each job: ends a child that failed or has done its share. */
    renew: async () => {
      if (child !== undefined && (!child.isUsable() || child.jobs() >= options.jobs_per_child)) {
        await child.stop();
        child = undefined;
      }
      rest = setTimeout(shrink, options.rest_ms ?? REST_MS).unref();
    },
    close: async () => {
      isClosed = true;
      await child?.stop();
    },
  };
}

type Waiter = { take(slot: Slot): void; refuse(reason: unknown): void };

/** First come, first served. */
function createLine(slots: readonly Slot[]) {
  const free = [...slots];
  const waiting = new Set<Waiter>();
  const serve = () => {
    for (const waiter of waiting) {
      const slot = free.shift();
      if (slot === undefined) return;
      waiting.delete(waiter);
      waiter.take(slot);
    }
  };
  const acquire = async (signal: AbortSignal | undefined): Promise<Slot> => {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const waiter: Waiter = { take: resolve, refuse: reject };
    waiting.add(waiter);
    serve();
    return withAbortHandler(promise, signal, () => {
      waiting.delete(waiter);
      reject(signal?.reason);
    });
  };
  return {
    acquire,
    /** The slot that the next job gets, if one is free. */
    next: (): Slot | undefined => free[0],
    release: (slot: Slot) => {
      // The most recently used slot goes first: its memory is reused, and the others stay small.
      free.unshift(slot);
      serve();
    },
    close: () => {
      for (const waiter of waiting) {
        waiter.refuse(new SandboxFailure('crashed', 'the sandbox is closed'));
      }
      waiting.clear();
    },
  };
}

/**
 * Slots of killable child processes for work on untrusted bytes. A crash, a hang, garbage or excessive memory costs one
 * attempt of one job; jobs wait in order for a free slot.
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
  /** Called for each child that broke a rule or died. */
  onKilled?: (reason: SandboxFailureReason) => void;
};

export function createSandbox(options: SandboxOptions): Sandbox {
  const slots = Array.from({ length: options.slots }, (): Slot => ({ child: undefined }));
  const line = createLine(slots);
  const state = { isClosed: false };
  const warm = (slot: Slot) => {
    if (!state.isClosed && slot.child?.isUsable() !== true) slot.child = startChild(options);
  };
  /** An error at the start of a child is left to the job that needs it. */
  const warmAhead = (slot: Slot) => {
    try {
      warm(slot);
    } catch (error) {
      if (!(error instanceof SandboxFailure)) throw error;
    }
  };
  const runIn = async (slot: Slot, job: SandboxJob) => {
    clearTimeout(slot.rest);
    try {
      warm(slot);
      if (slot.child === undefined) throw new SandboxFailure('crashed', 'the sandbox is closed');
      const { child } = slot;
      // The span covers all work on an image from outside: the child itself creates no spans.
      return await traced(`decoder ${job.kind}`, {}, () => child.run(job));
    } catch (error) {
      if (error instanceof SandboxFailure) report(error, job);
      throw error;
    } finally {
      await renew(slot, options.jobs_per_child);
      slot.rest = setTimeout(() => shrink(slot), options.rest_ms ?? REST_MS).unref();
      line.release(slot);
    }
  };
  const shrink = (slot: Slot) => {
    const { child } = slot;
    if (state.isClosed || child === undefined || child.residentBytes() <= RESTING_BYTES_MAX) return;
    slot.child = undefined;
    warmAhead(slot);
    void child.stop();
  };
  const report = (failure: SandboxFailure, { kind, about }: SandboxJob) => {
    const { reason } = failure;
    if (reason === 'unstarted') {
      options.log.error('decoders do not start: see their output, and run tintype doctor', {
        error: failure,
      });
    } else options.log.warn('a decoder failed', { ...about, kind, reason, error: failure });
    options.onKilled?.(reason);
  };
  for (const slot of slots) warmAhead(slot);
  return {
    run: async (job) => runIn(await line.acquire(job.signal), job),
    close: async () => {
      state.isClosed = true;
      line.close();
      await Promise.all(slots.map(async (slot) => slot.child?.stop()));
    },
  };

  /**
   * A child that failed or has done its share is replaced; the next one starts before it is needed.
   */
  async function renew(slot: Slot, jobsMax: number): Promise<void> {
    if (slot.child === undefined) return;
    if (slot.child.isUsable() && slot.child.jobs() < jobsMax) return;
    await slot.child.stop();
    slot.child = undefined;
    warmAhead(slot);
  }
}

type Slot = { child: SandboxChild | undefined; rest?: NodeJS.Timeout };

const REST_MS = 30_000;
/** A fresh child uses less; one that decoded a large image keeps more than it gives back. */
const RESTING_BYTES_MAX = 128 * 1024 * 1024;
type Waiter = { take(slot: Slot): void; refuse(reason: unknown): void };

/** First come, first served. */
function createLine(slots: readonly Slot[]) {
  const free = [...slots];
  const waiting = new Set<Waiter>();
  const next = () => {
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
    next();
    return withAbortHandler(promise, signal, () => {
      waiting.delete(waiter);
      reject(signal?.reason);
    });
  };
  return {
    acquire,
    release: (slot: Slot) => {
      // The most recently used slot goes first: its memory is reused, and the others stay small.
      free.unshift(slot);
      next();
    },
    close: () => {
      for (const waiter of waiting) {
        waiter.refuse(new SandboxFailure('crashed', 'the sandbox is closed'));
      }
      waiting.clear();
    },
  };
}

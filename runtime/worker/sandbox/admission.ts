/**
 * Decides who may decode at the same time: as many as fit into the worker's memory by their estimates. First come,
 * first served; small jobs may pass a large one that does not fit yet, but only a limited number of times.
 */
import { withAbortHandler } from '../../platform/with-abort-handler.ts';

export type Admission = {
  /**
   * Resolves when there is room, with the function that gives it back. Rejects with the signal's
   * reason.
   */
  enter(bytes: number, signal?: AbortSignal): Promise<() => void>;
};

/** How many later jobs may pass one that waits. */
const OVERTAKEN_MAX = 8;

export function createAdmission({ memory_bytes }: { memory_bytes: number }): Admission {
  const waiting: Waiter[] = [];
  const inside = { bytes: 0, count: 0 };
  /** A job larger than the whole memory runs alone. */
  const fits = (bytes: number) => inside.count === 0 || inside.bytes + bytes <= memory_bytes;
  const next = () => {
    for (let index = 0; index < waiting.length; ) {
      const waiter = waiting[index];
      if (waiter === undefined) return;
      if (fits(waiter.bytes)) {
        waiting.splice(index, 1);
        for (const passed of waiting.slice(0, index)) passed.overtaken += 1;
        waiter.admit(reserve(waiter.bytes));
      } else if (waiter.overtaken >= OVERTAKEN_MAX) {
        return;
      } else {
        index += 1;
      }
    }
  };
  const reserve = (bytes: number) => {
    inside.bytes += bytes;
    inside.count += 1;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      inside.bytes -= bytes;
      inside.count -= 1;
      next();
    };
  };
  return {
    enter: async (bytes, signal) => {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const waiter: Waiter = { bytes, overtaken: 0, admit: resolve };
      waiting.push(waiter);
      next();
      return withAbortHandler(promise, signal, () => {
        const index = waiting.indexOf(waiter);
        if (index >= 0) waiting.splice(index, 1);
        reject(signal?.reason);
        next();
      });
    },
  };
}

type Waiter = { bytes: number; overtaken: number; admit(leave: () => void): void };

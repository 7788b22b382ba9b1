/**
 * Finds a derived image in the nearest place: memory, the content store, or else one render. Parallel requests for the
 * same image share one fetch or render in this process. Spec: Delivery host (busy, render_timeout).
 */
import { LRUCache } from 'lru-cache';
import type { RenderRequest } from '../core/delivery/render-request.ts';
import { isOutage } from '../core/outage.ts';
import type { Clock } from '../platform/clock.ts';
import { createSingleFlight } from '../platform/single-flight.ts';
import type { DerivedReads } from './derived-reads.ts';
import { createFailureMemory } from './failure-memory.ts';
import { type RenderDeps, type RenderOutcome, renderOnce } from './render-once.ts';

/** `gone`: the viewer left, and nobody here had the image ready. */
export type DerivedImage =
  | RenderOutcome
  | { outcome: 'done'; source: 'memory'; bytes: Uint8Array }
  | { outcome: 'gone' };

/** A render that failed permanently; remembered, so that it is not repeated for each viewer. */
class RenderFailed extends Error {
  constructor(derivedKey: string, cause: unknown) {
    super(`${derivedKey} could not be rendered`, { cause });
    this.name = 'RenderFailed';
  }
}

export type DerivedImages = {
  /** `signal` aborts when the viewer leaves; work that nobody waits for any more is canceled. */
  find(request: RenderRequest, signal: AbortSignal): Promise<DerivedImage>;
};

type Deps = RenderDeps & { clock: Clock; reads: Pick<DerivedReads, 'note'> };

export function createDerivedImages(deps: Deps, options: { memory_bytes: number }): DerivedImages {
  const memory = createImageMemory(options.memory_bytes);
  const failures = createFailureMemory(deps.clock);
  const flights = createSingleFlight<DerivedImage>();

  const fetchOrRender = async (request: RenderRequest, abandoned: AbortSignal) => {
    const key = request.derived_key;
    try {
      const stored = await deps.content.read(key);
      const image: RenderOutcome =
        stored === undefined
          ? await renderOnce(deps, request, abandoned)
          : { outcome: 'done', source: 'store', bytes: stored };
      if (image.outcome === 'done') memory.set(key, image.bytes);
      if (stored !== undefined) deps.reads.note(key);
      return image;
    } catch (error) {
      if (abandoned.aborted || isOutage(error)) throw error;
      const failure = new RenderFailed(key, error);
      failures.remember(key, failure);
      throw failure;
    }
  };

  return {
    find: async (request, signal) => {
      const key = request.derived_key;
      const known = memory.get(key);
      if (known !== undefined) {
        deps.reads.note(key);
        return { outcome: 'done', source: 'memory', bytes: known };
      }
      failures.check(key);
      if (signal.aborted) return { outcome: 'gone' };
      try {
        return await flights.join(key, signal, async (abandoned) => {
          const value = await fetchOrRender(request, abandoned);
          return { value, settled: Promise.resolve() };
        });
      } catch (error) {
        if (signal.aborted) return { outcome: 'gone' };
        throw error;
      }
    },
  };
}

/** One image takes at most an eighth of the memory, so that no large image evicts all others. */
function createImageMemory(bytes: number): LRUCache<string, Uint8Array> {
  return new LRUCache({
    maxSize: bytes,
    maxEntrySize: Math.ceil(bytes / 8),
    sizeCalculation: (image) => Math.max(1, image.length),
  });
}

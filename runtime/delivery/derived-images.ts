/**
 * A derived image, from the nearest place that has it: memory, the content store, else one render. However
 * many ask for it at once, it is fetched or rendered once here. Spec: Delivery host (busy, render_timeout).
 */
import { LRUCache } from 'lru-cache';
import { type RenderRequest, renderReplySchema } from '../core/delivery/render-request.ts';
import { RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Queue, QueueBusy, QueueTimeout } from '../platform/queue/queue.ts';
import type { Bucket } from '../platform/storage/bucket.ts';
import { createFailureMemory } from './failure-memory.ts';
import { isOutage } from './outage.ts';

export type DerivedImage =
  | { outcome: 'done'; source: 'memory' | 'store' | 'render'; bytes: Uint8Array }
  | { outcome: 'busy'; retry_after_seconds: number }
  | { outcome: 'render_timeout' };

/** A render that went wrong for good; remembered, so that it is not tried again for each viewer. */
export class RenderFailed extends Error {
  constructor(derivedKey: string, cause: unknown) {
    super(`${derivedKey} could not be rendered`, { cause });
    this.name = 'RenderFailed';
  }
}

export type DerivedImages = { find(request: RenderRequest): Promise<DerivedImage> };

type Deps = { content: Bucket; queue: Queue; clock: Clock };

export function createDerivedImages(deps: Deps, options: { memory_bytes: number }): DerivedImages {
  const memory = createImageMemory(options.memory_bytes);
  const failures = createFailureMemory(deps.clock);
  const flights = new Map<string, Promise<DerivedImage>>();

  const fetchOrRender = async (request: RenderRequest): Promise<DerivedImage> => {
    const key = request.derived_key;
    try {
      const stored = await deps.content.read(key);
      const image = stored === undefined ? await render(deps, request) : done('store', stored);
      if (image.outcome === 'done') memory.set(key, image.bytes);
      return image;
    } catch (error) {
      if (isOutage(error)) throw error;
      const failure = new RenderFailed(key, error);
      failures.remember(key, failure);
      throw failure;
    }
  };
  const start = (request: RenderRequest) => {
    const key = request.derived_key;
    const flight = fetchOrRender(request).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };

  return {
    find: async (request) => {
      const key = request.derived_key;
      const known = memory.get(key);
      if (known !== undefined) return done('memory', known);
      failures.check(key);
      return flights.get(key) ?? start(request);
    },
  };
}

/** One image takes at most an eighth, so that no large one drives out all others. */
function createImageMemory(bytes: number): LRUCache<string, Uint8Array> {
  return new LRUCache({
    maxSize: bytes,
    maxEntrySize: Math.ceil(bytes / 8),
    sizeCalculation: (image) => Math.max(1, image.length),
  });
}

function done(source: 'memory' | 'store' | 'render', bytes: Uint8Array): DerivedImage {
  return { outcome: 'done', source, bytes };
}

async function render(deps: Deps, request: RenderRequest): Promise<DerivedImage> {
  try {
    return done('render', await callForBytes(deps, request));
  } catch (error) {
    if (error instanceof QueueBusy) {
      return { outcome: 'busy', retry_after_seconds: error.retry_after_seconds };
    }
    if (error instanceof QueueTimeout) return { outcome: 'render_timeout' };
    throw error;
  }
}

async function callForBytes({ content, queue }: Deps, request: RenderRequest): Promise<Uint8Array> {
  const answer = await queue.call('render', request, {
    deadline_ms: RENDER_DEADLINE_SECONDS * 1000,
  });
  const reply = renderReplySchema.parse(answer);
  const bytes = reply.bytes ?? (await content.read(request.derived_key));
  if (bytes?.length === reply.size_bytes) return bytes;
  throw new Error(`${request.derived_key} was rendered and is not stored`);
}

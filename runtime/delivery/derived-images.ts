/**
 * A derived image, from the nearest place that has it: memory, the content store, else one render. However
 * many ask for it at once, it is fetched or rendered once here. Spec: Delivery host; refusals `busy`, `render_timeout`.
 */
import { LRUCache } from 'lru-cache';
import {
  type RenderReply,
  type RenderRequest,
  renderReplySchema,
} from '../core/delivery/render-request.ts';
import { FAILED_RENDER_REMEMBERED_SECONDS, RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Queue, QueueBusy, QueueTimeout } from '../platform/queue/queue.ts';
import type { Bucket } from '../platform/storage/bucket.ts';

export type DerivedImage =
  | { outcome: 'done'; source: 'memory' | 'store' | 'render'; bytes: Uint8Array }
  | { outcome: 'busy'; retry_after_seconds: number }
  | { outcome: 'render_timeout' };

/** A render that failed a moment ago is not tried again for each viewer. */
export class RenderFailed extends Error {
  constructor(derivedKey: string, cause: unknown) {
    super(`${derivedKey} could not be rendered`, { cause });
    this.name = 'RenderFailed';
  }
}

export type DerivedImages = { find(request: RenderRequest): Promise<DerivedImage> };

type Deps = { content: Bucket; queue: Queue; clock: Clock };

const FAILURES_REMEMBERED_MAX = 10_000;

export function createDerivedImages(deps: Deps, options: { memory_bytes: number }): DerivedImages {
  const perf = { now: () => deps.clock.now().getTime() };
  const memory = new LRUCache<string, Uint8Array>({
    maxSize: options.memory_bytes,
    maxEntrySize: Math.ceil(options.memory_bytes / 8),
    sizeCalculation: (bytes) => Math.max(1, bytes.length),
  });
  const failures = new LRUCache<string, RenderFailed>({
    max: FAILURES_REMEMBERED_MAX,
    ttl: FAILED_RENDER_REMEMBERED_SECONDS * 1000,
    ttlResolution: 0,
    perf,
  });
  const flights = new Map<string, Promise<DerivedImage>>();

  const fetchOrRender = async (request: RenderRequest): Promise<DerivedImage> => {
    try {
      const stored = await deps.content.read(request.derived_key);
      const image = stored === undefined ? await render(deps, request) : done('store', stored);
      if (image.outcome === 'done') memory.set(request.derived_key, image.bytes);
      return image;
    } catch (error) {
      const failure = new RenderFailed(request.derived_key, error);
      if (!isStorageOutage(error)) failures.set(request.derived_key, failure);
      throw isStorageOutage(error) ? error : failure;
    } finally {
      flights.delete(request.derived_key);
    }
  };

  return {
    find: async (request) => {
      const key = request.derived_key;
      const known = memory.get(key);
      if (known !== undefined) return done('memory', known);
      const failure = failures.get(key);
      if (failure !== undefined) throw failure;
      const flight = flights.get(key) ?? fetchOrRender(request);
      flights.set(key, flight);
      return flight;
    },
  };
}

function done(source: 'memory' | 'store' | 'render', bytes: Uint8Array): DerivedImage {
  return { outcome: 'done', source, bytes };
}

async function render(deps: Deps, request: RenderRequest): Promise<DerivedImage> {
  try {
    const deadline_ms = RENDER_DEADLINE_SECONDS * 1000;
    const reply = renderReplySchema.parse(
      await deps.queue.call('render', request, { deadline_ms }),
    );
    return done('render', await bytesOf(deps.content, request, reply));
  } catch (error) {
    if (error instanceof QueueBusy) {
      return { outcome: 'busy', retry_after_seconds: error.retry_after_seconds };
    }
    if (error instanceof QueueTimeout) return { outcome: 'render_timeout' };
    throw error;
  }
}

async function bytesOf(
  content: Bucket,
  request: RenderRequest,
  reply: RenderReply,
): Promise<Uint8Array> {
  const bytes = reply.bytes ?? (await content.read(request.derived_key));
  if (bytes === undefined) throw new Error(`${request.derived_key} was rendered and is not stored`);
  return bytes;
}

function isStorageOutage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'storage_unavailable';
}

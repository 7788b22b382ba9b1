/**
 * One derived image on the parent's side: reads what the plan names, renders it in a decoder, stores it under its key
 * and answers. Parallel requests for the same key share the answer. Spec: Delivery host (render_timeout).
 */
import { randomUUID } from 'node:crypto';
import {
  type RenderReply,
  type RenderRequest,
  renderRequestSchema,
} from '../../core/delivery/render-request.ts';
import {
  BUSY_RETRY_AFTER_SECONDS,
  RENDER_DEADLINE_SECONDS,
  RENDER_REPLY_BYTES_MAX,
} from '../../core/limits.ts';
import { isOutage } from '../../core/outage.ts';
import type { Queryable } from '../../db/client.ts';
import {
  acquireRenderLease,
  deleteRenderLease,
  updateRenderLeaseStored,
} from '../../db/render-leases.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { QueueBusy, QueueTimeout } from '../../platform/queue/queue.ts';
import { createSingleFlight } from '../../platform/single-flight.ts';
import type { Bucket } from '../../platform/storage/bucket.ts';
import { traced } from '../../platform/tracing/spans.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { isInfrastructureFailure, SandboxFailure } from '../sandbox/sandbox-failure.ts';
import { draw, type Rendered } from './draw.ts';
import type { RenderScheduler } from './render-scheduler.ts';
import { createSourceBufferPool, type SourceBufferPool } from './source-buffer-pool.ts';

export type RenderDeps = {
  db: Queryable;
  content: Bucket;
  sandbox: Sandbox;
  scheduler: RenderScheduler;
  log: Log;
  wall_clock_ms: number;
  metrics?: Pick<Metrics, 'render'>;
};

export type DerivedRenders = {
  /** Handles one call of the queue. */
  answer(payload: unknown, signal: AbortSignal): Promise<RenderReply>;
  /** Resolves when all rendered images are stored. */
  drained(): Promise<void>;
};

type RenderingDeps = RenderDeps & { sources: SourceBufferPool };

/** About as many as are rendered at a time. */
const SOURCES_KEPT_MAX = 4;

export function createDerivedRenders(options: RenderDeps): DerivedRenders {
  const deps = { ...options, sources: createSourceBufferPool({ kept_max: SOURCES_KEPT_MAX }) };
  const flights = createSingleFlight<Rendered>();
  const stores = new Set<Promise<boolean>>();
  const renderAndStore = async (request: RenderRequest, signal: AbortSignal) => {
    const rendered = await inTurn(deps, request, signal);
    const stored = storeDerived(deps, request, rendered).finally(() => stores.delete(stored));
    stores.add(stored);
    // A long result is read from storage, so it must be stored before the reply.
    if (rendered.bytes.length > RENDER_REPLY_BYTES_MAX && !(await stored)) {
      throw new QueueBusy('render', BUSY_RETRY_AFTER_SECONDS);
    }
    return { value: rendered, settled: stored };
  };
  return {
    answer: async (payload, signal) => {
      const request = renderRequestSchema.parse(payload);
      const rendered = await flights.join(flightOf(request), signal, (abandoned) =>
        renderAndStore(request, abandoned),
      );
      return printReply(rendered);
    },
    drained: async () => {
      await Promise.allSettled(stores);
    },
  };
}

/**
 * Warm renders have a separate key, because a warm render gives way to the holder of the lease: a
 * viewer who holds it must not share that render.
 */
function flightOf({ derived_key, is_warm }: RenderRequest): string {
  return is_warm ? `${derived_key} ahead` : derived_key;
}

async function renderDerived(
  { content, log, sandbox, sources, wall_clock_ms }: RenderingDeps,
  { derived_key, plan, window, frame, source_key }: RenderRequest,
  signal: AbortSignal,
): Promise<Rendered> {
  const memory = sources.acquire();
  try {
    const keys = [source_key, ...(plan.watermark === null ? [] : [plan.watermark.object_key])];
    const reads = keys.map((key) => readObject(content, key, memory.allocate));
    // Wait for all, so that none still writes to memory that is given back.
    await Promise.allSettled(reads);
    const parts = await Promise.all(reads);
    return await draw(sandbox, { plan, window, frame }, { parts, signal, object_key: derived_key });
  } catch (error) {
    if (isOutage(error) || isInfrastructureFailure(error)) {
      // A caller over the queue sees no cause, so a failure that is nobody's fault must become
      // QueueBusy.
      log.warn('an image was not rendered: the caller must retry', {
        object_key: derived_key,
        error,
      });
      throw new QueueBusy('render', BUSY_RETRY_AFTER_SECONDS);
    }
    const isTimeout = error instanceof SandboxFailure && error.reason === 'timeout';
    throw isTimeout ? new QueueTimeout('render', wall_clock_ms) : error;
  } finally {
    memory.release();
  }
}

/** Nothing is read before the render's turn. */
async function inTurn(
  deps: RenderingDeps,
  request: RenderRequest,
  signal: AbortSignal,
): Promise<Rendered> {
  if (request.is_warm) return whenIdle(deps, request, signal);
  const release = await deps.scheduler.enter(request, signal);
  try {
    const rendered = await measured(deps, request, signal);
    release('rendered');
    return rendered;
  } finally {
    release('given up');
  }
}

/**
 * A warm render takes the lease of its image, like every render that another process could begin.
 */
async function whenIdle(
  deps: RenderingDeps,
  request: RenderRequest,
  signal: AbortSignal,
): Promise<Rendered> {
  const { release, stopped } = deps.scheduler.enterWarm(request);
  const { derived_key } = request;
  const lease = { derived_key, lease_id: randomUUID() };
  try {
    const state = await acquireRenderLease(deps.db, {
      ...lease,
      lease_seconds: WARM_LEASE_SECONDS,
    });
    if (state !== 'mine') throw new QueueBusy('render', 1);
    const either = AbortSignal.any([signal, stopped]);
    return await measured(deps, request, either);
  } catch (error) {
    await deleteRenderLease(deps.db, lease).catch(() => undefined);
    throw error;
  } finally {
    release();
  }
}

async function measured(
  deps: RenderingDeps,
  request: RenderRequest,
  signal: AbortSignal,
): Promise<Rendered> {
  const { format } = request.plan;
  const startedAt = performance.now();
  const seen = (result: string) =>
    deps.metrics?.render({ format, result, seconds: (performance.now() - startedAt) / 1000 });
  try {
    const rendered = await traced(`render ${format}`, {}, () =>
      renderDerived(deps, request, signal),
    );
    seen('done');
    return rendered;
  } catch (error) {
    if (!isGivenUp(signal)) seen(error instanceof QueueTimeout ? 'timeout' : 'failed');
    throw error;
  }
}

/**
 * Everybody left, or the render gave way to a viewer: not a failure, unless it ended because of its
 * timeout.
 */
function isGivenUp({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof QueueTimeout);
}

const WARM_LEASE_SECONDS = RENDER_DEADLINE_SECONDS + 5;
/** How long the lease tells waiting processes that the image is stored. */
const TOLD_STORED_SECONDS = 60;

/**
 * Returns whether the image is stored. An unavailable store costs the next viewer a render, but
 * this one nothing if the image is small.
 */
async function storeDerived(
  { db, content, log }: RenderDeps,
  { derived_key, project_id }: RenderRequest,
  { bytes, content_type }: Rendered,
): Promise<boolean> {
  const facts = { project_id, object_key: derived_key };
  let isStored = false;
  try {
    await content.write(derived_key, bytes, { content_type, size_bytes: bytes.length });
    isStored = true;
    await updateRenderLeaseStored(db, { derived_key, told_seconds: TOLD_STORED_SECONDS });
  } catch (error) {
    log.warn('a derived image was not stored', { ...facts, error });
    // Without a database the lease expires by itself.
    await deleteRenderLease(db, { derived_key }).catch(() => undefined);
  }
  return isStored;
}

async function readObject(
  content: Bucket,
  key: string,
  place: (sizeBytes: number) => Buffer,
): Promise<Buffer> {
  const bytes = await content.read(key, place);
  if (bytes === undefined) throw new Error(`the object ${key} is gone`);
  return bytes;
}

function printReply({ bytes, content_type }: Rendered): RenderReply {
  const isSmall = bytes.length <= RENDER_REPLY_BYTES_MAX;
  return { content_type, size_bytes: bytes.length, bytes: isSmall ? bytes : null };
}

/**
 * Ensures one render per image in the whole installation: the process that gets the lease of an image requests its
 * render, all others wait until it is stored and read it. A lease that its holder lost is taken over; without a
 * database every process renders. Spec: Delivery host (busy, render_timeout).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RenderRequest, renderReplySchema } from '../core/delivery/render-request.ts';
import { RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import type { Queryable } from '../db/client.ts';
import { acquireRenderLease, deleteRenderLease, type LeaseState } from '../db/render-leases.ts';
import type { Log } from '../platform/log.ts';
import { type Queue, QueueBusy, QueueTimeout } from '../platform/queue/queue.ts';
import type { Bucket } from '../platform/storage/bucket.ts';

/** `store`: another process rendered the image meanwhile. */
export type RenderOutcome =
  | { outcome: 'done'; source: 'store' | 'render'; bytes: Uint8Array }
  | { outcome: 'busy'; retry_after_seconds: number }
  | { outcome: 'render_timeout' };

export type RenderDeps = { db: Queryable; content: Bucket; queue: Queue; log: Log };

/** Longer than the holder of a lease waits for its render. */
const LEASE_SECONDS = RENDER_DEADLINE_SECONDS + 5;
const LOOK_AGAIN_MS_FIRST = 15;
const LOOK_AGAIN_MS_MAX = 200;

export async function renderOnce(
  deps: RenderDeps,
  request: RenderRequest,
  signal: AbortSignal,
): Promise<RenderOutcome> {
  const { derived_key } = request;
  const lease = { derived_key, lease_id: randomUUID(), lease_seconds: LEASE_SECONDS };
  const endsAt = performance.now() + RENDER_DEADLINE_SECONDS * 1000;
  for (let pause = LOOK_AGAIN_MS_FIRST; ; pause = Math.min(pause * 1.5, LOOK_AGAIN_MS_MAX)) {
    const state = await acquireLease(deps, lease);
    const stored = state === 'stored' ? await deps.content.read(derived_key) : undefined;
    if (stored !== undefined) return { outcome: 'done', source: 'store', bytes: stored };
    const deadline_ms = endsAt - performance.now();
    if (deadline_ms <= 0) {
      if (state === 'mine') await releaseLease(deps, lease);
      return { outcome: 'render_timeout' };
    }
    if (state !== 'held') return renderUnder(deps, lease, { request, deadline_ms, signal });
    await sleep(Math.min(pause, deadline_ms), undefined, { signal });
  }
}

type Lease = Parameters<typeof acquireRenderLease>[1];

async function acquireLease({ db, log }: RenderDeps, lease: Lease): Promise<LeaseState> {
  try {
    return await acquireRenderLease(db, lease);
  } catch (error) {
    // Rendering twice is better than not at all.
    log.warn('no lease for a render from the database: rendering anyway, possibly twice', {
      object_key: lease.derived_key,
      error,
    });
    return 'mine';
  }
}

/** On success the worker marks the lease as stored; after a failure it is given back at once. */
async function renderUnder(
  deps: RenderDeps,
  lease: Lease,
  of: { request: RenderRequest; deadline_ms: number; signal: AbortSignal },
): Promise<RenderOutcome> {
  try {
    return { outcome: 'done', source: 'render', bytes: await callForBytes(deps, of) };
  } catch (error) {
    await releaseLease(deps, lease);
    if (error instanceof QueueBusy) {
      return { outcome: 'busy', retry_after_seconds: error.retry_after_seconds };
    }
    if (error instanceof QueueTimeout) return { outcome: 'render_timeout' };
    throw error;
  }
}

async function callForBytes(
  { content, queue }: RenderDeps,
  of: { request: RenderRequest; deadline_ms: number; signal: AbortSignal },
): Promise<Uint8Array> {
  const { request, ...terms } = of;
  const reply = renderReplySchema.parse(await queue.call('render', request, terms));
  const bytes = reply.bytes ?? (await content.read(request.derived_key));
  if (bytes?.length === reply.size_bytes) return bytes;
  throw new Error(`${request.derived_key} was rendered and is not stored`);
}

/** A lease that cannot be given back expires by itself. */
async function releaseLease(
  { db, log }: RenderDeps,
  { derived_key, lease_id }: Lease,
): Promise<void> {
  try {
    await deleteRenderLease(db, { derived_key, lease_id });
  } catch (error) {
    log.warn('the lease of a render was not released', { object_key: derived_key, error });
  }
}

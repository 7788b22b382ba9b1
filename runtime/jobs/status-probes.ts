/**
 * How each service is probed: the API and delivery at their public addresses; rendering by drawing an image anew each
 * time; uploads by writing to both buckets; uploads and webhooks also by whether waiting work is handled. A probe
 * throws if the service does not work. Spec: Public, status.
 */
import type { RenderRequest } from '../core/delivery/render-request.ts';
import { STATUS_PROBE_SECONDS, STATUS_WAITING_SECONDS_MAX } from '../core/limits.ts';
import type { StatusService } from '../core/status.ts';
import { countUploadsWaiting } from '../db/uploads-waiting.ts';
import { areWebhooksStuck } from '../db/webhook-deliveries.ts';
import { getStatus } from '../platform/http/get-status.ts';
import type { JobContext } from './job.ts';

/** Resolves to false if this process cannot tell. */
export type Probe = (context: JobContext, signal: AbortSignal) => Promise<boolean>;

export const statusProbes: Readonly<Record<StatusService, Probe>> = {
  // Without a bucket the API still works except for uploads, which have a probe of their own.
  api: async ({ addresses }, signal) => {
    if (addresses === undefined) return false;
    const { status, body } = await getStatus(new URL('/readyz', addresses.api), signal);
    if (status !== 200 && !/"database": ?true/.test(body))
      throw new Error(`/readyz answers ${status}`);
    return true;
  },
  // Delivery itself looks up and refuses a host that no project has, and its answer allows any
  // origin.
  delivery: async ({ addresses }, signal) => {
    if (addresses === undefined) return false;
    const url = new URL('/originals/f/probe', addresses.delivery);
    const { status, headers } = await getStatus(url, signal);
    const isDelivery = headers['access-control-allow-origin'] === '*';
    if (status !== 404 || !isDelivery)
      throw new Error(`the answer for an unknown host was ${status}`);
    return true;
  },
  render: async ({ buckets: { content }, queue, is_queue_alone }, signal) => {
    if (is_queue_alone) return false;
    if ((await content.head(SOURCE_KEY)) === undefined)
      await content.write(SOURCE_KEY, SOURCE, SOURCE_FACTS);
    await queue.call('render', RENDER, { deadline_ms: STATUS_PROBE_SECONDS * 1000, signal });
    return true;
  },
  // A read-only bucket accepts no upload, and otherwise only tenants would notice.
  ingest: async ({ db, buckets: { ingest, content } }) => {
    for (const bucket of [ingest, content]) {
      await bucket.write(WRITTEN_KEY, SOURCE, SOURCE_FACTS);
      await bucket.delete(WRITTEN_KEY);
    }
    const { oldest_seconds } = await countUploadsWaiting(db);
    if (oldest_seconds > STATUS_WAITING_SECONDS_MAX)
      throw new Error(`an upload has waited for ${Math.round(oldest_seconds)} s`);
    return true;
  },
  webhooks: async ({ db }) => {
    if (await areWebhooksStuck(db, STATUS_WAITING_SECONDS_MAX))
      throw new Error('deliveries are due and nobody sends them');
    return true;
  },
};

const SOURCE_KEY = 'probes/source.png';
/** A PNG of 2 × 2 pixels. */
const SOURCE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGM4EaChUXGCAUIBACTGBVHUG/NNAAAAAElFTkSuQmCC',
  'base64',
);
const SOURCE_FACTS = { content_type: 'image/png', size_bytes: SOURCE.length };
/** Written and deleted by each probe. */
const WRITTEN_KEY = 'probes/written';
const whole = { x: 0, y: 0, width: 2, height: 2 };
const RENDER: RenderRequest = {
  project_id: 'probe',
  derived_key: 'probes/rendered.webp',
  source_key: SOURCE_KEY,
  window: whole,
  cost_ms: 10,
  plan: {
    window: whole,
    output: { width: 1, height: 1 },
    format: 'webp',
    quality: null,
    watermark: null,
  },
};

/**
 * What the operator needs to upload the images of presets: storage, and the queue that notifies workers. Spec:
 * Watermark preset.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createStartupRetry } from '../runtime/actions/startup-retry.ts';
import { HOUR_MS } from '../runtime/core/durations.ts';
import { systemClock } from '../runtime/platform/clock.ts';
import type { Config } from '../runtime/platform/config.ts';
import type { Lifecycle } from '../runtime/platform/lifecycle.ts';
import type { Log } from '../runtime/platform/log.ts';
import { downloadPublic } from '../runtime/platform/public-download.ts';
import { openQueue } from '../runtime/platform/queue/open-queue.ts';
import type { Queue } from '../runtime/platform/queue/queue.ts';
import { StorageUnavailable } from '../runtime/platform/storage/bucket.ts';
import { openS3Buckets } from '../runtime/platform/storage/s3-buckets.ts';
import type { ApiSettings } from './api-settings.ts';
import type { ImageDeps } from './cluster/declared-image.ts';
import type { EdgeCaches } from './routes/edge-caches.ts';

/** A watermark is a small picture, and is held in memory while it is uploaded. */
const IMAGE_BYTES_MAX = 8 * 1024 * 1024;
/**
 * Not every change of what is accepted is announced, so refused bytes are tried again, at most once
 * in this time.
 */
const REFUSED = { max: 10_000, ttl: HOUR_MS };
const ELSEWHERE =
  'workers look for uploads in another bucket than the operator writes to: set TINTYPE_INGEST_BUCKET of the operator to `storage.ingestBucket` of the ImageService, which is tintype-ingest unless it is set';

type Opening = { log: Log; lifecycle: Pick<Lifecycle, 'onStop'> };
type Sources = { findSettings(): Promise<ApiSettings>; edges: Pick<EdgeCaches, 'subscribe'> };

/** Undefined without storage: presets that name a file still work. */
export function openImages(
  config: Config,
  { findSettings, edges, ...opening }: Opening & Sources,
): ImageDeps | undefined {
  if (config.s3Endpoint === undefined) return undefined;
  const { log } = opening;
  const queue = openDoorbell(config, opening);
  const refused: ImageDeps['refused'] = new LRUCache(REFUSED);
  // What an earlier setting refused may be accepted now.
  edges.subscribe((slug) => {
    if (slug === undefined) refused.clear();
  });
  return {
    ...{ queue, log, clock: systemClock },
    buckets: openS3Buckets(config, systemClock),
    findSettings: async () => {
      const { plans, uploads, ingestBucket = config.ingestBucket } = await findSettings();
      if (ingestBucket !== config.ingestBucket) throw new StorageUnavailable(ELSEWHERE);
      const ingestMaxBytes = Math.min(IMAGE_BYTES_MAX, uploads.ingestMaxBytes);
      return { plans, settings: { ...uploads, ingestMaxBytes } };
    },
    refused,
    download: (url) => downloadPublic(url, { bytes_max: IMAGE_BYTES_MAX }),
  };
}

/**
 * The operator does not wait for a broker: without one, the workers' own sweep finds the uploads.
 */
function openDoorbell(config: Config, { log, lifecycle }: Opening): Pick<Queue, 'publish'> {
  const pause = async (ms: number) => void (await sleep(ms, undefined, { ref: false }));
  const startupRetry = createStartupRetry({ log, lifecycle: { pause } });
  let queue: Queue | undefined;
  let isStopping = false;
  void startupRetry
    .open('broker', () => openQueue(config, log))
    .then(async (opened) => {
      queue = opened;
      if (isStopping) await opened.close();
    })
    .catch((error) => log.error('workers could not be notified of declared images', { error }));
  lifecycle.onStop('queue', () => {
    isStopping = true;
    return queue?.close();
  });
  return {
    publish: async (name, message) => {
      if (queue === undefined) throw new Error('the broker is unavailable');
      await queue.publish(name, message);
    },
  };
}

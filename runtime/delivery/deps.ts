/** The dependencies of the delivery server, constructed once at the composition root. */
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Bucket } from '../platform/storage/bucket.ts';
import type { DerivedImages } from './derived-images.ts';
import type { Lookup } from './lookup.ts';
import type { Meter } from './meter.ts';

export type DeliveryDeps = {
  lookup: Lookup;
  derived: DerivedImages;
  meter: Meter;
  /** The API's origin, for the help page that a refusal links to. */
  baseUrl?: string | undefined;
  content: Bucket;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

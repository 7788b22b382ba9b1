/** What the API works with; constructed once, at the composition root. */
import type { UploadSettings } from '../actions/create-upload.ts';
import type { UploadAddresses } from '../actions/upload-ways.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Sealing } from '../platform/sealing.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import type { AuthDeps } from './auth/authorize.ts';
import type { Rates } from './rates/rates.ts';
import type { UploadRate } from './upload-rate.ts';

export type ApiDeps = AuthDeps & {
  readonly buckets: Buckets;
  readonly queue: Queue;
  readonly sealing: Sealing;
  readonly metrics: Metrics;
  readonly rates: Rates;
  /** Authenticates cursors. */
  readonly cursorKey: Uint8Array;
  readonly settings: ApiSettings;
  /** Where uploads go that do not go straight to storage, and what signs their URLs. */
  readonly addresses: UploadAddresses;
  /** The least rate of a body through the proxy, where it is not the usual one. */
  readonly uploadRate?: UploadRate;
  /** How long a body may take, where it is not the usual time. */
  readonly body_ms_max?: number;
  readonly failpoint?: Failpoint;
};

/** The deployment's settings that answers depend on. Spec: Limits, Uploads. */
export type ApiSettings = UploadSettings & {
  readonly deliveryRootDomain: string;
  readonly deliveryScheme: 'http' | 'https';
  readonly deliveryPublicPort: number | undefined;
  readonly callbackEgress: 'public' | 'any';
  /** Whose X-Forwarded-For is believed: addresses and ranges. */
  readonly trustedProxies: readonly string[];
  /** Whose pages may call from a browser. */
  readonly dashboardOrigins: readonly string[];
};

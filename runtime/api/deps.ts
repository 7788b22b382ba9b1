/** What the API works with; constructed once, at the composition root. */
import type { UploadSettings } from '../actions/create-upload.ts';
import type { SizeSettings } from '../actions/require-filterable.ts';
import type { UploadAddresses } from '../actions/upload-ways.ts';
import type { Provider } from '../core/billing/billing-fact.ts';
import type { NamedKey } from '../core/signing/hmac.ts';
import type { ProviderB } from '../platform/billing/provider-b.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Sealing } from '../platform/sealing.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import type { AuthDeps } from './auth/authorize.ts';
import type { Page } from './page.ts';
import type { PreviewGate } from './preview-gate.ts';
import type { Rates } from './rates/rates.ts';
import type { StatusBoard } from './status-board.ts';
import type { UploadRate } from './upload-rate.ts';

export type ApiDeps = AuthDeps & {
  readonly buckets: Buckets;
  readonly queue: Queue;
  readonly sealing: Sealing;
  readonly metrics: Metrics;
  readonly rates: Rates;
  /** All previews of this process go through it. */
  readonly previews: PreviewGate;
  /** What the status page tells. */
  readonly status: StatusBoard;
  /** Which plan each product buys, by payment provider. */
  readonly products: Readonly<Record<Provider, Readonly<Record<string, string>>>>;
  /** Undefined: whatever its secret signs. */
  readonly providerAMode: 'test' | 'live' | undefined;
  readonly providerBMode: 'test' | 'live';
  /** Undefined where the deployment has none. */
  readonly providerB: ProviderB | undefined;
  readonly libraryKeys: LibraryKeys;
  /** What the picker's page loads, by name. */
  readonly pickerAssets: (name: string) => Promise<Page>;
  /** Authenticate cursors; the first one prints, all are accepted. */
  readonly cursorKeys: readonly Uint8Array[];
  readonly settings: ApiSettings;
  /** Where uploads go that do not go straight to storage, and what signs their URLs. */
  readonly addresses: UploadAddresses;
  /** The least rate of a body through the proxy, where it is not the usual one. */
  readonly uploadRate?: UploadRate;
  /** How long a body may take, where it is not the usual time. */
  readonly body_ms_max?: number;
  readonly failpoint?: Failpoint;
};

/** Of each kind the first one signs, every one verifies. */
export type LibraryKeys = {
  readonly sessions: readonly NamedKey[];
  readonly embeds: readonly NamedKey[];
  /** Make pseudonyms of subjects; none: subjects are neither stored nor looked for. */
  readonly subjects: readonly Uint8Array[];
};

/** The deployment's settings that answers depend on. Spec: Limits, Uploads. */
export type ApiSettings = UploadSettings &
  SizeSettings & {
    readonly deliveryRootDomain: string;
    readonly deliveryScheme: 'http' | 'https';
    readonly deliveryPublicPort: number | undefined;
    /** Whether library sessions and the picker exist. */
    readonly librarySessions: 'enabled' | 'disabled';
    readonly callbackEgress: 'public' | 'any';
    /** That callbacks may go to where they go to the public. */
    readonly callbackPorts: readonly number[];
    /** Whose X-Forwarded-For is believed: addresses and ranges. */
    readonly trustedProxies: readonly string[];
    /** Whose pages may call from a browser. */
    readonly dashboardOrigins: readonly string[];
    /** Whose pages may post access requests, beside those of localhost. */
    readonly marketingOrigins: readonly string[];
  };

/** The dependencies of the API; constructed once, at the composition root. */
import type { UploadSettings } from '../actions/create-upload.ts';
import type { SizeSettings } from '../actions/require-filterable.ts';
import type { UploadAddresses } from '../actions/upload-methods.ts';
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
  /** Limits all previews of this process. */
  readonly previews: PreviewGate;
  /** The data of the status page. */
  readonly status: StatusBoard;
  /** The plan that each product buys, by payment provider. */
  readonly products: Readonly<Record<Provider, Readonly<Record<string, string>>>>;
  /** Undefined: accepts events of either mode that the secret signs. */
  readonly providerAMode: 'test' | 'live' | undefined;
  readonly providerBMode: 'test' | 'live';
  /** Undefined when the deployment does not use provider B. */
  readonly providerB: ProviderB | undefined;
  readonly libraryKeys: LibraryKeys;
  /** The assets of the picker's page, by name. */
  readonly pickerAssets: (name: string) => Promise<Page>;
  /** Keys that authenticate cursors: the first one signs, all are accepted. */
  readonly cursorKeys: readonly Uint8Array[];
  readonly settings: ApiSettings;
  /** Base URLs of the API and of uploads through the proxy, and the keys that sign upload URLs. */
  readonly addresses: UploadAddresses;
  /** The minimum rate of a body through the proxy, if not the default. */
  readonly uploadRate?: UploadRate;
  /** How long a body may take to arrive, if not the default. */
  readonly body_ms_max?: number;
  readonly failpoint?: Failpoint;
};

/** The first key of each list signs; every key verifies. */
export type LibraryKeys = {
  readonly sessions: readonly NamedKey[];
  readonly embeds: readonly NamedKey[];
  /** Keys that make pseudonyms of subjects. Empty: subjects are neither stored nor searched for. */
  readonly subjects: readonly Uint8Array[];
};

/** Deployment settings that answers depend on. Spec: Limits, Uploads. */
export type ApiSettings = UploadSettings &
  SizeSettings & {
    readonly deliveryRootDomain: string;
    readonly deliveryScheme: 'http' | 'https';
    readonly deliveryPublicPort: number | undefined;
    /** Whether library sessions and the picker are available. */
    readonly librarySessions: 'enabled' | 'disabled';
    readonly callbackEgress: 'public' | 'any';
    /** Ports that callbacks to public addresses may use. */
    readonly callbackPorts: readonly number[];
    /** Proxies whose X-Forwarded-For is trusted: addresses and ranges. */
    readonly trustedProxies: readonly string[];
    /** Origins whose pages may call the API from a browser. */
    readonly dashboardOrigins: readonly string[];
    /** Origins whose pages may post access requests, in addition to those on localhost. */
    readonly marketingOrigins: readonly string[];
  };

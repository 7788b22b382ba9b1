/**
 * The dependencies of an API in tests. The keys are constant, so that tokens made by one process are valid in another.
 */
import { createSessionFacts } from '../../runtime/api/auth/library-session.ts';
import type { ApiDeps } from '../../runtime/api/deps.ts';
import { createPickerAssets } from '../../runtime/api/embed/picker-assets.ts';
import { createPreviewGate } from '../../runtime/api/preview-gate.ts';
import { createAuthFailureLimiter } from '../../runtime/api/rates/auth-failure-limiter.ts';
import type { MinuteRate } from '../../runtime/api/rates/minute-rate.ts';
import { createStatusBoard } from '../../runtime/api/status-board.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import type { Database } from '../../runtime/db/client.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createIdentity } from '../../runtime/platform/identity.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createMetrics } from '../../runtime/platform/metrics.ts';
import { createInProcessQueue } from '../../runtime/platform/queue/in-process.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';

/** Signs the URLs of folder storage. */
export const STORAGE_SECRET = Buffer.alloc(32, 5);

const UNLIMITED: MinuteRate = {
  take: async () => undefined,
  isSpent: () => false,
  refuseSpent: () => undefined,
};

/** No rate limits, because tests send many requests from one address. */
const NO_RATES = {
  authFailures: createAuthFailureLimiter(UNLIMITED),
  writes: UNLIMITED,
  accessRequests: UNLIMITED,
  hasProject: () => Promise.resolve(true),
};

export type ApiTerms = {
  db: Database;
  buckets: ApiDeps['buckets'];
  /** Defaults to an in-process queue. */
  queue?: Queue;
  provider: { issuer: string; jwksUrl: string };
  /** Receives the API's log lines. */
  lines: string[];
  baseUrl: string;
  staffSubject: string;
  ingestBytesMax: number;
  proxyBytesMax: number;
  requestSigningSecret: string;
  storageEventSecret: string;
};

export function apiDeps(terms: ApiTerms): ApiDeps {
  const { db, buckets, provider, lines, baseUrl } = terms;
  const { issuer, jwksUrl } = provider;
  const destination = { write: (line: string) => lines.push(line) };
  return {
    db,
    buckets,
    clock: systemClock,
    identity: createIdentity({ issuer, jwksUrl, clock: systemClock }),
    log: createLog({ level: 'debug', name: 'api', destination }),
    metrics: createMetrics(),
    rates: NO_RATES,
    previews: createPreviewGate(),
    status: createStatusBoard(),
    queue: terms.queue ?? createInProcessQueue(),
    sealing: createSealing([{ id: 'k1', key: Buffer.alloc(32, 1) }]),
    pickerAssets: createPickerAssets(),
    cursorKeys: [Buffer.alloc(32, 2)],
    sessionFacts: createSessionFacts(),
    libraryKeys: {
      sessions: [{ id: 't1', key: Buffer.alloc(32, 6) }],
      embeds: [{ id: 't1', key: Buffer.alloc(32, 7) }],
      subjects: [Buffer.alloc(32, 8)],
    },
    addresses: {
      baseUrl,
      uploadBaseUrl: baseUrl,
      uploadUrlKeys: [Buffer.alloc(32, 3)],
      proxyMaxBytes: terms.proxyBytesMax,
    },
    plans: defaultPlans,
    products: { a: {}, b: {} },
    providerASecret: undefined,
    providerBSecret: undefined,
    providerAMode: undefined,
    providerBMode: 'test',
    providerB: undefined,
    staff: { is_enabled: true, subjects: [terms.staffSubject] },
    requestSigningSecret: terms.requestSigningSecret,
    storageEventSecret: terms.storageEventSecret,
    settings: {
      deliveryRootDomain: 'images.test',
      deliveryScheme: 'https',
      deliveryPublicPort: undefined,
      ingestMaxBytes: terms.ingestBytesMax,
      svgUploads: 'enabled',
      avifUploads: 'enabled',
      mediaLibraryWrites: 'enabled',
      unindexedThreshold: 100_000,
      librarySessions: 'enabled',
      callbackEgress: 'public',
      callbackPorts: [443, 8443],
      trustedProxies: [],
      dashboardOrigins: [],
      marketingOrigins: [],
    },
  };
}

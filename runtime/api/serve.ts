/** An API process: builds its server from the configuration, not yet listening, and stops it. */
import type { RequestListener, Server } from 'node:http';
import type { Deps } from '../actions/open-deps.ts';
import { deriveKey } from '../core/signing/hmac.ts';
import { openProviderB, type ProviderB } from '../platform/billing/provider-b.ts';
import type { ConfigField, ConfigWith } from '../platform/config.ts';
import { variables } from '../platform/config-variables.ts';
import { type ClosingTerms, prepareToClose } from '../platform/http/close-server.ts';
import { createIdentity } from '../platform/identity.ts';
import { readPlans } from '../platform/plans-file.ts';
import { createSealing } from '../platform/sealing.ts';
import { createApi } from './app.ts';
import { createSessionFacts } from './auth/library-session.ts';
import type { ApiDeps, LibraryKeys } from './deps.ts';
import { createPickerAssets } from './embed/picker-assets.ts';
import { createPreviewGate } from './preview-gate.ts';
import { createRates } from './rates/rates.ts';
import { createApiServer } from './server.ts';
import { createStatusBoard } from './status-board.ts';

/** Configuration fields of the API, beyond those of every process. */
export const apiFields = [
  'baseUrl',
  'deliveryRootDomain',
  'identityIssuer',
  'identityJwksUrl',
  'requestSigningSecret',
  'storageEventSecret',
  'keyEncryptionKeys',
  'tokenKeys',
] as const satisfies readonly ConfigField[];

export type ApiConfig = ConfigWith<(typeof apiFields)[number]>;

export type ApiProcess = {
  server: Server;
  /** Stops accepting requests and lets those under way finish, uploads included. */
  stop(): Promise<void>;
};

/** Serves other handlers on this port; returns whether the request was for it. */
export type SharedPortHandler = (...exchange: Parameters<RequestListener>) => boolean;

/** How long requests under way may take at shutdown; an upload may have started moments before. */
const DRAIN_MS = 60_000;

type ApiOptions = Pick<ClosingTerms, 'quiet_ms'> & {
  config: ApiConfig;
  sharedHandlers?: readonly SharedPortHandler[];
  /** How long requests under way may take at shutdown. */
  drain_ms?: number;
};

export function startApi(deps: Deps, options: ApiOptions): ApiProcess {
  const { config, sharedHandlers = [], drain_ms = DRAIN_MS, quiet_ms } = options;
  const api = createApi(apiDeps(deps, config));
  const listener: RequestListener = (request, response) => {
    if (!sharedHandlers.some((handle) => handle(request, response))) api(request, response);
  };
  const { log, metrics } = deps;
  const server = createApiServer(listener, { log, metrics, baseUrl: config.baseUrl });
  const closing = prepareToClose(server);
  return { server, stop: () => closing.close({ deadline_ms: drain_ms, quiet_ms }) };
}

function apiDeps(deps: Deps, config: ApiConfig): ApiDeps {
  return {
    ...deps,
    plans: readPlans(config),
    products: { a: config.providerAPlans, b: config.providerBPlans },
    providerASecret: config.providerASecret,
    providerBSecret: config.providerBSecret,
    providerAMode: config.providerAMode,
    providerBMode: config.providerBMode,
    providerB: providerBOf(deps, config),
    rates: createRates({
      ...deps,
      failedAuthenticationsPerMinute: config.rateFailedAuthentications,
      writesPerMinute: config.rateWrites,
    }),
    previews: createPreviewGate(),
    status: createStatusBoard(),
    sealing: createSealing(config.keyEncryptionKeys),
    identity: createIdentity({
      issuer: config.identityIssuer,
      jwksUrl: config.identityJwksUrl,
      audience: config.identityAudience,
      clock: deps.clock,
    }),
    staff: { is_enabled: config.staffApi === 'enabled', subjects: config.staffSubjects },
    requestSigningSecret: config.requestSigningSecret,
    storageEventSecret: config.storageEventSecret,
    libraryKeys: libraryKeysOf(config),
    sessionFacts: createSessionFacts(),
    pickerAssets: createPickerAssets(),
    cursorKeys: config.tokenKeys.map(({ key }) => deriveKey(key, 'cur1')),
    addresses: {
      baseUrl: config.baseUrl,
      uploadBaseUrl: config.uploadBaseUrl ?? config.baseUrl,
      uploadUrlKeys: config.tokenKeys.map(({ key }) => deriveKey(key, 'upl1')),
      proxyMaxBytes: config.proxyMaxBytes,
    },
    settings: {
      deliveryRootDomain: config.deliveryRootDomain,
      deliveryScheme: config.deliveryScheme,
      deliveryPublicPort: config.deliveryPublicPort,
      ingestMaxBytes: config.ingestMaxBytes,
      svgUploads: config.svgUploads,
      avifUploads: config.avifUploads,
      mediaLibraryWrites: config.mediaLibraryWrites,
      unindexedThreshold: config.unindexedThreshold,
      librarySessions: config.librarySessions,
      callbackEgress: config.callbackEgress,
      callbackPorts: config.callbackPorts,
      trustedProxies: config.trustedProxies,
      dashboardOrigins: config.dashboardOrigins,
      marketingOrigins: config.marketingOrigins,
    },
  };
}

function providerBOf(
  { clock, log }: Deps,
  { providerBUrl: url, providerBApiKey: api_key }: ApiConfig,
): ProviderB | undefined {
  if (url !== undefined && api_key !== undefined) {
    return openProviderB({ url, api_key, clock, log });
  }
  if ((url ?? api_key) !== undefined) {
    const missing = url === undefined ? variables.providerBUrl : variables.providerBApiKey;
    log.warn('subscriptions of provider B cannot be canceled: set both its URL and its key', {
      variable: missing.name,
    });
  }
  return undefined;
}

function libraryKeysOf({ tokenKeys }: ApiConfig): LibraryKeys {
  const derived = (purpose: string) =>
    tokenKeys.map(({ id, key }) => ({ id, key: deriveKey(key, purpose) }));
  return {
    sessions: derived('ls1'),
    embeds: derived('embed1'),
    subjects: derived('sub1').map(({ key }) => key),
  };
}

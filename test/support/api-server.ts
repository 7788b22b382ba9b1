/**
 * The real API on an HTTP server, with a real database, folder buckets and their PUT handler, the in-process queue and
 * the identity provider of the standalone, all on one loopback port.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createApi } from '../../runtime/api/app.ts';
import type { ApiDeps } from '../../runtime/api/deps.ts';
import { createApiServer } from '../../runtime/api/server.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createMetrics } from '../../runtime/platform/metrics.ts';
import { createFolderBucket, type FolderBucket } from '../../runtime/platform/storage/folder.ts';
import { folderStorageHandler } from '../../runtime/platform/storage/folder-server.ts';
import {
  createIdentityProvider,
  type IdentityProvider,
} from '../../runtime/standalone/identity-provider.ts';
import { apiClient, REQUEST_SIGNING_SECRET } from './api-client.ts';
import { apiDeps, STORAGE_SECRET } from './api-deps.ts';
import { openBackend } from './backend.ts';
import { closeHttp } from './close-http.ts';
import { useDatabase } from './database.ts';

export const STAFF_SUBJECT = 'user_staff';
/** The signing key of all APIs of a run, because creating one takes long. */
const IDENTITY = join(tmpdir(), 'tintype-identity');
/** Small, so that a test can exceed it. */
export const INGEST_BYTES_MAX = 5_000_000;
export const STORAGE_EVENT_SECRET = 'the secret of storage events';
export const PROXY_BYTES_MAX = 10_000_000;

/** The options with which the server answers requests that never reach the app. */
const SERVER = {
  baseUrl: 'http://api.test',
  log: createLog({ level: 'silent', name: 'test' }),
  metrics: createMetrics(),
};

const TERMS = {
  staffSubject: STAFF_SUBJECT,
  ingestBytesMax: INGEST_BYTES_MAX,
  proxyBytesMax: PROXY_BYTES_MAX,
  requestSigningSecret: REQUEST_SIGNING_SECRET,
  storageEventSecret: STORAGE_EVENT_SECRET,
};

/** Dependencies and settings that a test may replace. */
export type Overrides = Partial<Omit<ApiDeps, 'settings'>> & {
  settings?: Partial<ApiDeps['settings']>;
};

/** Call it once per test file. A `change` lasts until the end of the test. */
export function useApi() {
  const { db, url: databaseUrl } = useDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'tintype-api-'));
  const lines: string[] = [];
  const started = { baseUrl: '', provider: undefined as IdentityProvider | undefined };
  let usual: ApiDeps;
  let usualApp: ReturnType<typeof createApi>;
  let app: ReturnType<typeof createApi>;
  let server: Server;
  beforeAll(async () => {
    server = createApiServer((request, response) => {
      const isAnswered = started.provider?.handle(request, response) || storage(request, response);
      if (!isAnswered) app(request, response);
    }, SERVER);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    started.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [baseUrl, clock] = [started.baseUrl, systemClock];
    const buckets = openBuckets(folder, baseUrl);
    const storage = folderStorageHandler({ buckets, secret: STORAGE_SECRET, clock });
    started.provider = await createIdentityProvider({ dataDir: IDENTITY, baseUrl, clock });
    const { provider } = started;
    usual = apiDeps({ db, buckets, provider, lines, baseUrl, ...TERMS, ...(await openBackend()) });
    usualApp = createApi(usual);
    app = usualApp;
  });
  beforeEach(() => {
    lines.length = 0;
    app = usualApp;
  });
  afterAll(async () => {
    await closeHttp(server);
    await usual.queue.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    db,
    databaseUrl,
    ...apiClient(started),
    ingestFolder: () => join(folder, 'ingest'),
    /** The log lines of this test, parsed. */
    logged: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    deps: () => usual,
    change: (overrides: Overrides) => {
      const settings = { ...usual.settings, ...overrides.settings };
      app = createApi({ ...usual, ...overrides, settings });
    },
  };
}

export type Api = ReturnType<typeof useApi>;

function openBuckets(
  folder: string,
  publicUrl: string,
): Record<keyof ApiDeps['buckets'], FolderBucket> {
  const open = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return createFolderBucket({
      name,
      folder: join(folder, name),
      publicUrl,
      secret: STORAGE_SECRET,
      clock: systemClock,
    });
  };
  return { ingest: open('ingest'), content: open('content') };
}

/** Starts the parts of a standalone in order; each is registered to stop before those that it needs. */
import { join } from 'node:path';
import {
  type FolderOperatorOptions,
  startFolderOperator,
} from '../../operator/files/watch-folder.ts';
import { type Deps, openDatabase, openDeps } from '../actions/open-deps.ts';
import { serveHealthChecks } from '../actions/run-deployment.ts';
import { createStartupRetry } from '../actions/startup-retry.ts';
import { tellUnreadableSecrets } from '../actions/unreadable-secrets.ts';
import { INGEST_LEASE_SECONDS } from '../core/limits.ts';
import { databaseMessage, isTransient } from '../db/failures.ts';
import { migrateOrAdvise } from '../db/main.ts';
import { updateUploadLeasesOver } from '../db/upload-processing.ts';
import { startJobs } from '../jobs/start-jobs.ts';
import { ServerUnavailable } from '../platform/advice.ts';
import type { Environment } from '../platform/config.ts';
import type { Instance } from '../platform/instance.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { createSealing } from '../platform/sealing.ts';
import { startTracing } from '../platform/tracing/start-tracing.ts';
import { startWorker, workerSettings } from '../worker/serve.ts';
import { ensureOrganization } from './demo.ts';
import { describeInstance } from './describe-instance.ts';
import {
  givenConfig,
  type Ports,
  type StandaloneConfig,
  standaloneConfig,
  standaloneEnvironment,
} from './environment.ts';
import { watchSampleProject } from './sample-project.ts';
import { removeSecretFiles, writeSecretFile } from './secret-files.ts';
import { loadSecrets } from './secrets.ts';
import { startServers } from './servers.ts';
import { openStorage } from './storage.ts';
import { supervisePostgres } from './supervise-postgres.ts';

export type PartsOptions = {
  env: Environment;
  log: Log;
  lifecycle: Lifecycle;
  ports: Ports;
  dataFolder: string;
  configFolder: string;
  /**
   * Called with each instance description that commands should find from then on; the first time
   * after all parts have started.
   */
  onInstance(instance: Instance): Promise<void>;
};

export async function startParts(options: PartsOptions): Promise<void> {
  const { dataFolder, lifecycle } = options;
  await startTracing(givenConfig(options.env), { ...options, name: 'up' });
  const secrets = await loadSecrets(dataFolder);
  const databaseUrl = options.env['TINTYPE_DATABASE_URL'] || (await startDatabaseServer(options));
  const spoolFolder = join(dataFolder, 'spool');
  const { ports } = options;
  const own = { secrets, ports, databaseUrl, spoolFolder };
  const environment = standaloneEnvironment(options.env, own);
  const config = standaloneConfig(environment);
  await bringUp(config.databaseUrl, options);
  const secret = Buffer.from(secrets.storage_url_secret, 'hex');
  const storage = await openStorage(config, { ...options, secret });
  const db = openDatabase(config.databaseUrl, options);
  const deps = await openDeps(config, { ...options, db, buckets: storage.buckets });
  await tellUnreadableSecrets(db, { keys: config.keyEncryptionKeys, log: options.log });
  await serveHealthChecks(deps, { port: config.metricsPort, lifecycle });
  // The data folder is ours alone, so any worker that still holds a lease on an upload was killed.
  if (!options.env['TINTYPE_DATABASE_URL']) {
    const lease_seconds = INGEST_LEASE_SECONDS;
    await withRetries(options, () => updateUploadLeasesOver(deps.db, { lease_seconds }));
  }
  const worker = await startWorker({ ...deps, ...workerSettings(config) });
  lifecycle.onStop('worker', () => worker.stop());
  const organization_id = await withRetries(options, () => ensureOrganization(deps));
  const running = { given: options.env, environment, config };
  const look = watchSampleProject(deps, {
    ...{ organization_id, secrets, dataFolder },
    report: (sample) =>
      options.onInstance(describeInstance(running, { organization_id, ...sample })),
  });
  let isUp = false;
  const onPass = async () => {
    if (!isUp) return;
    await look().catch((error: unknown) =>
      deps.log.warn('the project for tintype upload and env is not known; retrying', { error }),
    );
  };
  await startOperator(deps, { ...options, organization_id, onPass }, config);
  await startServers(deps, { config, lifecycle, ports, dataFolder, storage });
  startJobs(deps, { config, lifecycle });
  isUp = true;
  await withRetries(options, look);
}

/**
 * Everything starts at once, and on a busy machine a connection may take longer than a request
 * waits for one.
 */
function withRetries<T>(options: PartsOptions, ask: () => Promise<T>): Promise<T> {
  return createStartupRetry(options).open('database', () =>
    ask().catch((cause: unknown) => {
      if (!isTransient(cause)) throw cause;
      throw new ServerUnavailable(`the database does not answer (${databaseMessage(cause)})`, {
        cause,
      });
    }),
  );
}

async function startDatabaseServer({ dataFolder, lifecycle, log }: PartsOptions): Promise<string> {
  const postgres = await supervisePostgres({ folder: join(dataFolder, 'postgres'), log });
  lifecycle.onStop('postgres', () => postgres.stop());
  return postgres.url;
}

async function bringUp(url: string, { log }: PartsOptions): Promise<void> {
  const { applied, newer } = await migrateOrAdvise(url);
  if (applied.length > 0) {
    log.info('the database was migrated to this version', {
      count: applied.length,
      version: applied.at(-1),
    });
  }
  // The database works with the previous program version; with a still older one nobody has tested
  // it.
  if (newer.length > 0) {
    log.warn('the database is of a newer version than this program', {
      count: newer.length,
      version: newer.at(-1),
    });
  }
}

type Folder = Pick<FolderOperatorOptions, 'organization_id' | 'onPass'>;

async function startOperator(
  deps: Deps,
  { configFolder, dataFolder, lifecycle, ...folder }: PartsOptions & Folder,
  config: StandaloneConfig,
): Promise<void> {
  const operator = await startFolderOperator({
    folder: configFolder,
    db: deps.db,
    organization_id: folder.organization_id,
    onPass: folder.onPass,
    sealing: createSealing(config.keyEncryptionKeys),
    clock: deps.clock,
    log: deps.log,
    delivery_root_domain: config.deliveryRootDomain,
    callback_egress: config.callbackEgress,
    writeSecret: (secret) => writeSecretFile(dataFolder, secret),
    removeSecrets: (project) => removeSecretFiles(dataFolder, project),
  });
  lifecycle.onStop('operator', () => operator.stop());
}

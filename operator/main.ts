/**
 * `tintype operator`: keeps the rows of a database as the resources of a cluster declare them. One of several leads;
 * the others hold warm caches and take over when it goes. What is missing is said at once, all of it.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { openMigratedDatabase } from '../runtime/actions/open-deps.ts';
import { END_MS_MAX } from '../runtime/actions/run-deployment.ts';
import type { OpenDatabase } from '../runtime/db/client.ts';
import { type ConfigWith, type Environment, parseConfig } from '../runtime/platform/config.ts';
import { startHealthServer } from '../runtime/platform/http/health-server.ts';
import { type Lifecycle, runProcess } from '../runtime/platform/lifecycle.ts';
import { createLog, type Log } from '../runtime/platform/log.ts';
import { createMetrics } from '../runtime/platform/metrics.ts';
import { createSealing } from '../runtime/platform/sealing.ts';
import { type ObjectCaches, openObjectCaches } from './cluster/object-caches.ts';
import { createOrganizations } from './cluster/organizations.ts';
import { createTenantControllers } from './cluster/tenant-controllers.ts';
import { createKubeClient } from './kube/client.ts';
import { openCredentials } from './kube/credentials.ts';
import { runElector } from './kube/lease.ts';
import { createKubeMetrics, type KubeMetrics } from './kube/metrics.ts';
import { systemTimedClock } from './kube/timed-clock.ts';
import { LEASE_NAME } from './permissions.ts';

const fields = ['databaseUrl', 'keyEncryptionKeys'] as const;

type OperatorConfig = ConfigWith<(typeof fields)[number]>;

type Start = { env: Environment; config: OperatorConfig; log: Log; lifecycle: Lifecycle };

export async function operatorCommand(env: Environment): Promise<void> {
  const config = parseConfig<(typeof fields)[number]>(env, fields);
  const log = createLog({
    level: config.logLevel,
    name: 'operator',
    format: process.stderr.isTTY ? 'text' : 'json',
    destination: process.stderr,
  });
  await runProcess({ log, deadline_ms: END_MS_MAX }, (lifecycle) =>
    start({ env, config, log, lifecycle }),
  );
}

const clock = systemTimedClock;

async function start({ env, config, log, lifecycle }: Start): Promise<void> {
  const credentials = openCredentials({ kind: 'default' }, clock);
  const db = await openMigratedDatabase(config.databaseUrl, { log, lifecycle });
  const metrics = createKubeMetrics();
  const client = createKubeClient({ credentials, clock, metrics });
  lifecycle.onStop('connections', () => client.close());
  const common = { client, clock, log, metrics };
  const caches = openObjectCaches({ ...common, namespaces: config.watchNamespaces });
  lifecycle.onStop('caches', () => caches.stop());
  const watch_port = await watch(config, { log, lifecycle, db, caches, metrics });
  const context = {
    ...{ client, db, clock, delivery_root_domain: config.deliveryRootDomain },
    sealing: createSealing(config.keyEncryptionKeys),
    findOrganization: createOrganizations(db, clock),
  };
  const controllers = createTenantControllers({ ...common, caches, context });
  const elector = runElector({
    ...common,
    namespace: env['POD_NAMESPACE'] || 'default',
    name: LEASE_NAME,
    identity: `${env['POD_NAME'] || hostname()}_${randomBytes(4).toString('hex')}`,
    lead: (term) => controllers.lead(term),
  });
  lifecycle.onStop('leader', () => elector.stop());
  log.info('ready', watch_port === undefined ? {} : { watch_port });
}

type Watched = {
  log: Log;
  lifecycle: Lifecycle;
  db: OpenDatabase;
  caches: ObjectCaches;
  metrics: KubeMetrics;
};

/** A standby is ready too: it could lead now. */
async function watch(
  { metricsPort }: OperatorConfig,
  { log, lifecycle, db, caches, metrics }: Watched,
): Promise<number | undefined> {
  if (metricsPort === undefined) return undefined;
  const own = createMetrics();
  own.watch({ pool: () => db.pool() });
  const print = async () => {
    const { text, ...printed } = await own.print();
    return { ...printed, text: `${text}\n${await metrics.print()}` };
  };
  const probes = { database: () => db.query('select 1'), cluster: () => proveCaches(caches) };
  const health = await startHealthServer({
    ...{ port: metricsPort, log, probes },
    metrics: { ...own, print },
  });
  lifecycle.onStop('health', health.stop);
  return health.port;
}

async function proveCaches(caches: ObjectCaches): Promise<void> {
  const isCurrent = caches.health().every(({ isSynced, isStale }) => isSynced && !isStale);
  if (!isCurrent) throw new Error('the API server has not been heard of');
}

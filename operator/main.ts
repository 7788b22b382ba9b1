/**
 * `tintype operator`: keeps the rows of a database as the resources of a cluster declare them. One of several processes
 * leads; the others keep warm caches and take over when it ends. Missing settings are reported at once, all together.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { openDatabase } from '../runtime/actions/open-deps.ts';
import { END_MS_MAX } from '../runtime/actions/run-deployment.ts';
import { tellUnreadableSecrets } from '../runtime/actions/unreadable-secrets.ts';
import type { OpenDatabase } from '../runtime/db/client.ts';
import { findLastOperatorEpoch } from '../runtime/db/operator-terms.ts';
import { type ConfigWith, type Environment, parseConfig } from '../runtime/platform/config.ts';
import { type Lifecycle, runProcess } from '../runtime/platform/lifecycle.ts';
import { createLog, type Log } from '../runtime/platform/log.ts';
import { createSealing } from '../runtime/platform/sealing.ts';
import { warnOfUnknownVariables } from '../runtime/platform/unknown-variables.ts';
import { createApiSettings } from './api-settings.ts';
import { openObjectCaches } from './cluster/object-caches.ts';
import { createOrganizations } from './cluster/organizations.ts';
import { createTenantControllers } from './cluster/tenant-controllers.ts';
import type { TenantObject } from './cluster/tenant-object.ts';
import { type FencedTerm, leadFenced } from './fenced-term.ts';
import { startHealthEndpoints, type Watched } from './health-endpoints.ts';
import { createKubeClient } from './kube/client.ts';
import { openCredentials } from './kube/credentials.ts';
import { createEventRecorder } from './kube/events.ts';
import { createLeaderClient } from './kube/leader-client.ts';
import { type Elector, runElector } from './kube/lease.ts';
import { createKubeMetrics } from './kube/metrics.ts';
import { systemTimedClock } from './kube/timed-clock.ts';
import { openImages } from './open-images.ts';
import { openInstallations } from './open-installations.ts';
import { LEASE_NAME } from './permissions.ts';
import { placesOf } from './places.ts';
import { rootDomainOf } from './routes/edge.ts';
import { openEdgeCaches } from './routes/edge-caches.ts';
import { planRoutes } from './routes/plan-routes.ts';
import { probeHost } from './routes/probe-hosts.ts';
import { createRouteController } from './routes/route-controller.ts';

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
  warnOfUnknownVariables(env, log);
  await runProcess({ log, deadline_ms: END_MS_MAX }, (lifecycle) =>
    start({ env, config, log, lifecycle }),
  );
}

const clock = systemTimedClock;

async function start({ env, config, log, lifecycle }: Start): Promise<void> {
  const credentials = await openCredentials(env, clock);
  // Conditions report whether the database answers and is migrated: the operator may be the one
  // that migrates it.
  const db = openDatabase(config.databaseUrl, { log, lifecycle });
  const told = tellUnreadableSecrets(db, { keys: config.keyEncryptionKeys, log });
  lifecycle.onStop('keys', () => told);
  const metrics = createKubeMetrics();
  const unguarded = createKubeClient({ credentials, clock, metrics });
  lifecycle.onStop('connections', () => unguarded.close());
  let elector: Elector | undefined;
  const client = createLeaderClient(unguarded, () => elector?.term() !== undefined);
  const common = { client, clock, log, metrics };
  const caches = openObjectCaches({ ...common, namespaces: config.watchNamespaces });
  lifecycle.onStop('caches', () => caches.stop());
  const places = placesOf(config, env);
  const edges = openEdgeCaches({ ...common, namespace: places.delivery });
  lifecycle.onStop('edges', () => edges.stop());
  const watched: Watched = { caches: [caches, edges], overdue_ms: () => 0 };
  const watch_port = await startHealthEndpoints(watched, { ...common, db, lifecycle, config });
  const name = env['POD_NAME'] || hostname();
  const events = createEventRecorder({ ...common, client: unguarded, instance: name });
  const routes = createRouteController({
    ...common,
    context: { client, db, clock, caches, edges, probe: probeHost, events },
  });
  const findSettings = createApiSettings(config, { client, findEdge: edges.findNow });
  const images = openImages(config, { log, lifecycle, findSettings, edges });
  const findRootDomain = () => config.deliveryRootDomain ?? rootDomainOf(edges.find());
  const context = {
    ...{ client, clock, findRootDomain },
    sealing: createSealing(config.keyEncryptionKeys),
    findOrganization: createOrganizations({
      clock,
      findPlans: async () => (await findSettings()).plans,
    }),
    ...{ events, images },
    planRoutes: (object: TenantObject) => planRoutes(object, { db, edges }),
    judgeRoute: routes.judge,
  };
  const controllers = createTenantControllers({
    ...{ ...common, caches, context },
    namespaces: config.watchNamespaces,
  });
  edges.subscribe(whenAnother(findRootDomain, controllers.requeueProjects));
  const installations = await openInstallations({
    ...{ ...common, events, namespaces: places.runtime },
    ...{ keys: config.keyEncryptionKeys, watched: config.watchNamespaces },
  });
  watched.caches.push(installations);
  elector = elect({ ...common, db, client: unguarded, namespace: places.own, name }, (term) =>
    Promise.all([controllers, routes, installations].map((each) => each.lead(term))),
  );
  watched.overdue_ms = elector.overdue_ms;
  lifecycle.onStop('leader', async () => {
    await elector?.stop();
    await events.settled();
  });
  log.info('ready', watch_port === undefined ? {} : { watch_port });
}

type Electing = Omit<Parameters<typeof runElector>[0], 'identity' | 'lastEpoch' | 'lead'> & {
  db: OpenDatabase;
};

/** `name`: of this process, unique in its namespace. */
function elect(
  { db, name, ...options }: Electing,
  work: (term: FencedTerm) => Promise<unknown>,
): Elector {
  const lease = `${options.namespace}/${LEASE_NAME}`;
  const identity = `${name}_${randomBytes(4).toString('hex')}`;
  return runElector({
    ...{ ...options, name: LEASE_NAME, identity },
    lastEpoch: () => findLastOperatorEpoch(db, lease),
    lead: (term) => leadFenced(term, { db, lease, holder: identity, log: options.log }, work),
  });
}

/**
 * Returns a function that calls `tell` whenever `find` returns another value than the time before.
 */
function whenAnother<Value>(find: () => Value, tell: () => void): () => void {
  let last = find();
  return () => {
    const before = last;
    last = find();
    if (last !== before) tell();
  };
}

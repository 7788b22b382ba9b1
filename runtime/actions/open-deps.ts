/**
 * The dependencies of every process of an installation, opened from its configuration and closed with it: the database,
 * the buckets, the queue. `tintype up` opens the same ones on one machine.
 */
import {
  createDatabase,
  type Database,
  type OpenDatabase,
  type QueryInterceptor,
} from '../db/client.ts';
import { measureDatabaseLead } from '../db/database-lead.ts';
import { databaseMessage, isTransient } from '../db/failures.ts';
import { compareMigrations } from '../db/migrate.ts';
import { Advice, ServerUnavailable } from '../platform/advice.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { Config, ConfigField, ConfigWith } from '../platform/config.ts';
import { type Failpoint, killAt } from '../platform/failpoint.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { countedQueue } from '../platform/queue/counted-queue.ts';
import { openQueue } from '../platform/queue/open-queue.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import { withTraceContext } from '../platform/trace-context.ts';
import { isTraced, traced } from '../platform/tracing/spans.ts';
import type { StartupRetry } from './startup-retry.ts';
import { tellUnreadableSecrets } from './unreadable-secrets.ts';

export type Deps = {
  readonly db: Database;
  readonly buckets: Buckets;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly failpoint?: Failpoint;
};

/** The configuration that every process of a deployment requires. */
export const deploymentFields = [
  'databaseUrl',
  's3Endpoint',
  'amqpUrl',
] as const satisfies readonly ConfigField[];

export type DeploymentConfig = ConfigWith<(typeof deploymentFields)[number]>;

type Opening = { log: Log; lifecycle: Lifecycle };
type Watched = { metrics: Metrics; startupRetry: StartupRetry };

/** For a process of a deployment. Expects a migrated database: only `tintype migrate` migrates. */
export async function openDeployment(
  config: DeploymentConfig,
  opening: Opening & Watched,
): Promise<Deps> {
  const db = openDatabase(config.databaseUrl, opening);
  await opening.startupRetry.open('database', () => requireMigrated(db));
  const { keyEncryptionKeys: keys } = config;
  if (keys !== undefined) await tellUnreadableSecrets(db, { keys, log: opening.log });
  // Imported lazily: a Tintype on folders starts faster without these packages.
  const { openS3Buckets } = await import('../platform/storage/s3-buckets.ts');
  return openDeps(config, { ...opening, db, buckets: openS3Buckets(config, systemClock) });
}

type Opened = Opening & Partial<Watched> & { db: OpenDatabase; buckets: Buckets };

/** With `startupRetry`, waits for an unavailable broker. */
export async function openDeps(
  config: Pick<Config, 'amqpUrl' | 'failpoint'>,
  { log, lifecycle, db, buckets, startupRetry, metrics = createMetrics() }: Opened,
): Promise<Deps> {
  const open = () => openQueue(config, log);
  const queue = countedQueue(await (startupRetry?.open('broker', open) ?? open()));
  lifecycle.onStop('queue', () => queue.close());
  const { failpoint } = config;
  metrics.registerSources({
    pool: () => db.pool(),
    queues: () => queue.depths(),
    in_hand: queue.inHand,
    database_lead_ms: () => measureDatabaseLead(db),
  });
  const deps = { db, buckets, queue, clock: systemClock, log, metrics };
  return failpoint === undefined ? deps : { ...deps, failpoint: killAt(failpoint) };
}

export function openDatabase(url: string, { log, lifecycle }: Opening): OpenDatabase {
  let isClosing = false;
  const db = createDatabase({
    url,
    intercept: tracedStatement,
    onIdleFailure: (error) => {
      // A server that shuts down at the same time may close the connection first.
      if (isClosing) return;
      // Logged outside any request, whichever request opened the connection.
      withTraceContext({}, () => log.warn('an idle database connection was lost', { error }));
    },
  });
  lifecycle.onStop('database', () => {
    isClosing = true;
    return db.close();
  });
  return db;
}

/** A traced statement shows placeholders, never values. */
export const tracedStatement: QueryInterceptor = (statement, work) => {
  if (!isTraced()) return work();
  const [operation = ''] = /\w+/.exec(statement) ?? [];
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation.toUpperCase(),
    'db.query.text': statement,
  };
  return traced(`postgresql ${operation.toLowerCase()}`, { kind: 'client', attributes }, work);
};

async function requireMigrated(db: Database): Promise<void> {
  const { missing } = await compareMigrations(db).catch((cause: unknown) => {
    const advice = `the database cannot be used (${databaseMessage(cause)}): is TINTYPE_DATABASE_URL right?`;
    throw isTransient(cause)
      ? new ServerUnavailable(advice, { cause })
      : new Advice(advice, { cause });
  });
  if (missing.length === 0) return;
  throw new Advice(
    `the database lacks ${missing.length} of this version’s migrations: run \`tintype migrate\` first`,
  );
}

type Dependencies = Pick<Deps, 'db' | 'buckets'>;

/** Whether the database and both buckets answer now: then requests find something here. */
export function probesOf({ db, buckets }: Dependencies) {
  return {
    database: () => db.query('select 1'),
    ingest: () => buckets.ingest.check(),
    content: () => buckets.content.check(),
  };
}

/**
 * Whether they can be used for everything, which alerts go by. A database that takes no writes
 * cannot, although a process beside it still has much to answer.
 */
export function dependenciesOf({ db, buckets }: Dependencies) {
  return { ...probesOf({ db, buckets }), database: () => db.check() };
}

/**
 * The dependencies of a job called by hand: those of the Tintype that runs on this machine, found by its data folder,
 * or else of the installation that the environment names, as for a CronJob.
 */
import { join } from 'node:path';
import { deploymentFields, tracedStatement } from '../actions/open-deps.ts';
import { createDatabase } from '../db/client.ts';
import { Advice } from '../platform/advice.ts';
import { openCdn } from '../platform/cdn/open-cdn.ts';
import { systemClock } from '../platform/clock.ts';
import { type ConfigWith, type Environment, parseConfig } from '../platform/config.ts';
import { omitExternalVariables } from '../platform/external-variables.ts';
import { killAt } from '../platform/failpoint.ts';
import { findInstance, type Instance, noInstanceOrConfig } from '../platform/instance.ts';
import { createLog } from '../platform/log.ts';
import { createLazyQueue } from '../platform/queue/lazy-queue.ts';
import { openQueue } from '../platform/queue/open-queue.ts';
import { createSealing } from '../platform/sealing.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import { openFolderBuckets, STORAGE_FOLDER } from '../platform/storage/folder-buckets.ts';
import { openS3Buckets } from '../platform/storage/s3-buckets.ts';
import { warnOfUnknownVariables } from '../platform/unknown-variables.ts';
import { type JobDeps, MANUAL_JOB_SECONDS_MAX } from './job.ts';
import { openWebhookSender } from './open-webhook-sender.ts';
import { publicAddresses } from './public-addresses.ts';

/** Statements of a job may take longer than those of a request. */
const QUERY_TIMEOUT_MS = 120_000;

export async function openJobDeps(dataFolder: string, env: Environment): Promise<JobDeps> {
  const found = await findInstance(dataFolder);
  if (!(found instanceof Advice)) return openLocal(dataFolder, { instance: found, env });
  if (env['TINTYPE_DATABASE_URL']) {
    const config = parseConfig(env, deploymentFields);
    const format = process.stderr.isTTY ? 'text' : 'json';
    return open(config, { buckets: openS3Buckets(config, systemClock), format, env });
  }
  throw noInstanceOrConfig(found);
}

type Local = { instance: Instance; env: Environment };

async function openLocal(dataFolder: string, { instance, env }: Local): Promise<JobDeps> {
  const own = {
    ...omitExternalVariables(env),
    ...instance.environment,
    TINTYPE_BASE_URL: instance.api_url,
    TINTYPE_DELIVERY_ROOT_DOMAIN: instance.delivery_root_domain,
    TINTYPE_DELIVERY_SCHEME: instance.delivery_scheme,
    TINTYPE_DELIVERY_PUBLIC_PORT: String(instance.delivery_port),
    TINTYPE_DATABASE_URL: instance.database_url,
    TINTYPE_TOKEN_KEYS: instance.token_keys,
    TINTYPE_KEY_ENCRYPTION_KEYS: instance.key_encryption_keys,
  };
  const config = parseConfig(own, ['databaseUrl', 'tokenKeys']);
  const openFolders = () =>
    openFolderBuckets({
      folder: join(dataFolder, STORAGE_FOLDER),
      publicUrl: instance.api_url,
      secret: config.tokenKeys[0]?.key ?? new Uint8Array(),
      clock: systemClock,
    });
  const buckets =
    config.s3Endpoint === undefined ? await openFolders() : openS3Buckets(config, systemClock);
  // Text format: on a local Tintype, a person runs the command.
  return open(config, { buckets, format: 'text', env });
}

type Opening = { buckets: Buckets; format: 'text' | 'json'; env: Environment };

function open(config: ConfigWith<'databaseUrl'>, { buckets, format, env }: Opening): JobDeps {
  const { databaseUrl: url, failpoint } = config;
  const log = createLog({
    level: config.logLevel,
    name: 'job',
    format,
    destination: process.stderr,
  });
  warnOfUnknownVariables(env, log);
  // Most jobs publish nothing, and a charge must not wait for a broker.
  const queue = createLazyQueue(() => openQueue(config, log));
  const intercept = tracedStatement;
  const db = createDatabase({
    url,
    intercept,
    maxConnections: 4,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
  });
  const patientMs = MANUAL_JOB_SECONDS_MAX * 1000;
  const patient = createDatabase({ url, intercept, maxConnections: 1, queryTimeoutMs: patientMs });
  const cdn = openCdn(config, systemClock);
  const points = failpoint === undefined ? {} : { failpoint: killAt(failpoint) };
  const addresses = publicAddresses(config);
  const optional = {
    ...(addresses && { addresses }),
    ...(config.amqpUrl === undefined && { is_queue_alone: true as const }),
  };
  const deps = {
    db,
    patient,
    buckets,
    queue,
    cdn,
    clock: systemClock,
    log,
    ...points,
    ...optional,
  };
  const { keyEncryptionKeys } = config;
  if (keyEncryptionKeys === undefined) return deps;
  const webhooks = openWebhookSender(deps, { ...config, keyEncryptionKeys });
  return { ...deps, webhooks, sealing: createSealing(keyEncryptionKeys) };
}

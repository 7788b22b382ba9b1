/**
 * What `tintype doctor` examines: the Tintype that runs on this machine, found by its data folder, otherwise the
 * installation that the environment names.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createDatabase, type Database } from '../db/client.ts';
import { Advice } from '../platform/advice.ts';
import { systemClock } from '../platform/clock.ts';
import { type Config, type Environment, parseConfig } from '../platform/config.ts';
import { omitExternalVariables } from '../platform/external-variables.ts';
import { findInstance, type Instance, noInstanceOrConfig } from '../platform/instance.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import { openFolderBuckets, STORAGE_FOLDER } from '../platform/storage/folder-buckets.ts';
import { openS3Access, openS3Buckets } from '../platform/storage/s3-buckets.ts';
import type { S3Access } from '../platform/storage/s3-client.ts';
import { ANSWER_MS_MAX } from './check.ts';

export type Subject = {
  config: Config;
  /** Undefined if the environment names none. */
  db: Database | undefined;
  storage: StorageSubject | undefined;
  broker: 'embedded' | string | undefined;
  jwksUrl: string | undefined;
  /** Whether to rewrite a wrong CORS rule. */
  cors: 'check' | 'fix';
};

export type StorageSubject = {
  buckets: Buckets;
  /** Undefined for folders. */
  s3: { access: S3Access; names: Record<keyof Buckets, string> } | undefined;
};

export type DoctorOptions = { data: string; fixCors?: true; json?: true };

export async function openSubject(options: DoctorOptions, env: Environment): Promise<Subject> {
  const cors = options.fixCors === true ? 'fix' : 'check';
  const found = await findInstance(options.data);
  if (found instanceof Advice && !namesSomething(env)) throw noInstanceOrConfig(found);
  const instance = found instanceof Advice ? undefined : found;
  const config = parseConfig(
    instance === undefined ? env : { ...omitExternalVariables(env), ...environmentOf(instance) },
  );
  const { databaseUrl, s3Endpoint, amqpUrl, identityJwksUrl } = config;
  const embedded = instance === undefined ? undefined : { instance, folder: options.data };
  return {
    config,
    db: databaseUrl === undefined ? undefined : openDatabase(databaseUrl),
    storage: s3Endpoint === undefined ? embedded && (await openFolders(embedded)) : openS3(config),
    broker: amqpUrl ?? (embedded && 'embedded'),
    jwksUrl: identityJwksUrl,
    cors,
  };
}

function namesSomething(env: Environment): boolean {
  return ['TINTYPE_DATABASE_URL', 'TINTYPE_S3_ENDPOINT', 'TINTYPE_AMQP_URL'].some(
    (name) => env[name],
  );
}

function environmentOf(instance: Instance): Environment {
  return {
    TINTYPE_IDENTITY_ISSUER: instance.issuer,
    TINTYPE_IDENTITY_JWKS_URL: `${instance.issuer}/jwks.json`,
    ...instance.environment,
    TINTYPE_DATABASE_URL: instance.database_url,
    TINTYPE_KEY_ENCRYPTION_KEYS: instance.key_encryption_keys,
    TINTYPE_BASE_URL: instance.api_url,
    TINTYPE_DELIVERY_ROOT_DOMAIN: instance.delivery_root_domain,
  };
}

function openDatabase(url: string): Database {
  return createDatabase({
    url,
    maxConnections: 1,
    connectTimeoutMs: ANSWER_MS_MAX,
    applicationName: 'tintype-doctor',
  });
}

function openS3(config: Config): StorageSubject {
  return {
    buckets: openS3Buckets(config, systemClock),
    s3: {
      access: openS3Access(config, systemClock),
      names: { ingest: config.ingestBucket, content: config.contentBucket },
    },
  };
}

const secretsSchema = z.object({ storage_url_secret: z.string() });

/** Signs with the running Tintype's secret, so that its port accepts what is signed here. */
async function openFolders(of: { instance: Instance; folder: string }): Promise<StorageSubject> {
  const text = await readFile(join(of.folder, 'secrets.json'), 'utf8');
  const { storage_url_secret } = secretsSchema.parse(JSON.parse(text));
  const buckets = await openFolderBuckets({
    folder: join(of.folder, STORAGE_FOLDER),
    publicUrl: of.instance.api_url,
    secret: Buffer.from(storage_url_secret, 'hex'),
    clock: systemClock,
  });
  return { buckets, s3: undefined };
}

/**
 * The variables that name what a Tintype on one machine reaches outside: storage, broker, identity provider, CDN,
 * scanner, tenants. A command that works with this Tintype must reach exactly the same, whatever variables its own
 * shell has: a job that compared this database with the buckets of another installation would delete their objects.
 */
import type { Environment } from './config.ts';

export function pickExternalVariables(env: Environment): Record<string, string> {
  const named = Object.entries(env).filter(
    (entry): entry is [string, string] => Boolean(entry[1]) && EXTERNAL.test(entry[0]),
  );
  return Object.fromEntries(named);
}

export function omitExternalVariables(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !EXTERNAL.test(name)));
}

const EXTERNAL =
  /^TINTYPE_(AMQP_URL|S3_[A-Z_]+|INGEST_BUCKET|CONTENT_BUCKET|IDENTITY_[A-Z_]+|CDN|CDN_[A-Z_]+|SCANNER|SCANNER_[A-Z_]+|CALLBACK_[A-Z_]+)$/;

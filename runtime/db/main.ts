/** `tintype migrate`: brings the database to this version and prints what it did. */
import { isOutage } from '../core/outage.ts';
import { Advice } from '../platform/advice.ts';
import { type Environment, parseConfig } from '../platform/config.ts';
import { describeFailure } from './failures.ts';
import { describeVersion, type Migrated, migrate } from './migrate.ts';

export async function migrateCommand(env: Environment): Promise<void> {
  const { databaseUrl } = parseConfig(env, ['databaseUrl']);
  const { applied, newer } = await migrateOrAdvise(databaseUrl);
  const lines = applied.map((name) => `applied ${name}`);
  process.stdout.write(`${[...lines, `the database is ${describeVersion(newer)}`].join('\n')}\n`);
}

/** `migrate` for a command: throws Advice. */
export function migrateOrAdvise(url: string): Promise<Migrated> {
  return migrate(url).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    const hint = isOutage(describeFailure(cause)) ? ': is TINTYPE_DATABASE_URL right?' : '';
    throw new Advice(`the database could not be migrated (${why})${hint}`, { cause });
  });
}

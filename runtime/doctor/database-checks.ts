/**
 * Whether the database is usable: reachable, of a supported version, writable, migrated, with the same time as this
 * machine, and with secrets that the keys decrypt.
 */
import { findSealingKeys, SEALING_ADVICE } from '../actions/unreadable-secrets.ts';
import { measureDatabaseLead } from '../db/database-lead.ts';
import { compareMigrations, describeVersion } from '../db/migrate.ts';
import { requireWritable } from '../db/write-check.ts';
import { createSealing } from '../platform/sealing.ts';
import { type Check, type Finding, ok, skipped, wrong } from './check.ts';
import type { Subject } from './subject.ts';

const VERSION_MIN = 15;
/** The database's clock decides about expiry, ours signs. */
const SKEW_MS_MAX = 2000;
const NAMED =
  'set TINTYPE_DATABASE_URL, for example postgres://tintype:password@db.internal:5432/tintype';
const PRIMARY =
  'set TINTYPE_DATABASE_URL to the primary, or unset default_transaction_read_only: this server is a standby, or is set to read-only';
const ROOM =
  'give the disk of PostgreSQL more room; docs/runbook/dependency-away.md says how to find what fills it';
const RUNS =
  'check TINTYPE_DATABASE_URL, and whether PostgreSQL runs and accepts connections from this machine';

export const databaseChecks: readonly Check<Subject>[] = [
  { area: 'database', name: 'reachable', run: findVersion, advice: RUNS },
  { area: 'database', name: 'migrated', run: findMigrations, advice: RUNS },
  { area: 'database', name: 'same time', run: findSkew, advice: RUNS },
  { area: 'database', name: 'written', run: tryWrite, advice: ROOM },
  { area: 'database', name: 'secrets', run: findSecrets, advice: RUNS },
];

async function findVersion({ db }: Subject): Promise<Finding> {
  if (db === undefined) return wrong('TINTYPE_DATABASE_URL is not set', NAMED);
  const [row] = await db.query<{ version: string; read_only: string }>(
    `select current_setting('server_version') as version,
       current_setting('transaction_read_only') as read_only`,
  );
  const { version = '', read_only } = row ?? {};
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    return wrong(`PostgreSQL ${version} is too old`, `use version ${VERSION_MIN} or newer`);
  }
  if (read_only !== 'off') return wrong(`PostgreSQL ${version} accepts no writes`, PRIMARY);
  return ok(`PostgreSQL ${version}`);
}

async function findMigrations({ db }: Subject): Promise<Finding> {
  const { missing, newer } =
    db === undefined ? { missing: [], newer: [] } : await compareMigrations(db);
  return missing.length === 0
    ? ok(describeVersion(newer))
    : wrong(`lacks ${missing.length} of this version’s migrations`, 'run `tintype migrate`');
}

/** Whether the keys of this environment open what the database holds. */
async function findSecrets({ db, config }: Subject): Promise<Finding> {
  const { keyEncryptionKeys } = config;
  if (db === undefined || keyEncryptionKeys === undefined) {
    return skipped('TINTYPE_KEY_ENCRYPTION_KEYS is not set; API, delivery and dispatcher need it');
  }
  const sealing = createSealing(keyEncryptionKeys);
  const { used, missing, different } = await findSealingKeys(db, sealing);
  if (missing.length > 0) {
    return wrong(
      `some are encrypted with ${listed(missing)}, not configured`,
      SEALING_ADVICE.missing,
    );
  }
  if (different.length > 0) {
    return wrong(`some do not open with ${listed(different)}`, SEALING_ADVICE.different);
  }
  return ok(used.length === 0 ? 'none' : `encrypted with ${listed(used)}`);
}

function listed(keyIds: readonly string[]): string {
  return keyIds.map((id) => `'${id}'`).join(', ');
}

async function findSkew({ db }: Subject): Promise<Finding> {
  const skewMs = db === undefined ? 0 : Math.round(await measureDatabaseLead(db));
  return Math.abs(skewMs) <= SKEW_MS_MAX
    ? ok(`${Math.abs(skewMs)} ms apart`)
    : wrong(
        `its clock is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`,
        'synchronize both clocks (NTP): request signatures, library sessions, embed URLs, storage URLs and the hour of a delivery use this machine’s clock, all else the database’s',
      );
}

/** A server with a full disk answers everything else. */
async function tryWrite({ db }: Subject): Promise<Finding> {
  const isTried = db !== undefined && (await requireWritable(db));
  return isTried ? ok('a temporary table') : skipped('temporary tables are not allowed');
}

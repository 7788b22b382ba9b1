/**
 * Whether the database is usable: reachable, of a supported version, writable, migrated, and with the same time as this
 * machine.
 */
import { measureDatabaseLead } from '../db/database-lead.ts';
import { compareMigrations, describeVersion } from '../db/migrate.ts';
import { type Check, type Finding, ok, wrong } from './check.ts';
import type { Subject } from './subject.ts';

const VERSION_MIN = 15;
/** The database's clock decides about expiry, ours signs. */
const SKEW_MS_MAX = 2000;
const NAMED =
  'set TINTYPE_DATABASE_URL, for example postgres://tintype:password@db.internal:5432/tintype';
const PRIMARY =
  'set TINTYPE_DATABASE_URL to the primary, or unset default_transaction_read_only: this server is a standby, or is set to read-only';
const RUNS =
  'check TINTYPE_DATABASE_URL, and whether PostgreSQL runs and accepts connections from this machine';

export const databaseChecks: readonly Check<Subject>[] = [
  { area: 'database', name: 'reachable', run: findVersion, advice: RUNS },
  { area: 'database', name: 'migrated', run: findMigrations, advice: RUNS },
  { area: 'database', name: 'same time', run: findSkew, advice: RUNS },
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

async function findSkew({ db }: Subject): Promise<Finding> {
  const skewMs = db === undefined ? 0 : Math.round(await measureDatabaseLead(db));
  return Math.abs(skewMs) <= SKEW_MS_MAX
    ? ok(`${Math.abs(skewMs)} ms apart`)
    : wrong(
        `its clock is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`,
        'synchronize both clocks (NTP): request signatures, library sessions, embed URLs, storage URLs and the hour of a delivery use this machine’s clock, all else the database’s',
      );
}

// Whether a database contains anything of Tintype; also works if it was never migrated.
import type { Queryable } from './client.ts';

/** False: no migration ever ran in the database, in any schema. */
export async function hasTintypeSchema(db: Queryable): Promise<boolean> {
  const tables = await db.query(
    `select from pg_catalog.pg_class
     where relname in ('schema_migrations', 'organizations', 'projects') and relkind in ('r', 'p') limit 1`,
  );
  return tables.length > 0;
}

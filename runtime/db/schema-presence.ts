// Whether there is anything of Tintype in a database, which a database that was never migrated can be asked too.
import type { Queryable } from './client.ts';

/** False: no migration has ever run in it, in whatever schema. */
export async function hasTintypeSchema(db: Queryable): Promise<boolean> {
  const tables = await db.query(
    `select from pg_catalog.pg_class
     where relname in ('schema_migrations', 'organizations', 'projects') and relkind in ('r', 'p') limit 1`,
  );
  return tables.length > 0;
}

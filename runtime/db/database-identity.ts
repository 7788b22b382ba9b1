/**
 * Identifies the database, at whatever address it is reached: the system identifier of its cluster, and its own oid.
 */
import type { Queryable } from './client.ts';
import { onlyRow } from './rows.ts';

export type DatabaseIdentity = { id: string; name: string };

export async function findDatabaseIdentity(db: Queryable): Promise<DatabaseIdentity> {
  const [found] = await db.query<DatabaseIdentity>(
    `select system_identifier || '/' || oid as id, datname as name
     from pg_control_system(), pg_database where datname = current_database()`,
  );
  return onlyRow(found);
}

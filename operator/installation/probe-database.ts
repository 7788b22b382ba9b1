/**
 * Whether PostgreSQL answers at the address of an installation, and is the operator's own database: otherwise the rows
 * of Projects would be in another database than the one that delivery reads. Spec: Project.
 */
import { createDatabase, type Queryable } from '../../runtime/db/client.ts';
import { findDatabaseIdentity } from '../../runtime/db/database-identity.ts';
import { databaseMessage } from '../../runtime/db/failures.ts';
import type { Observed } from '../image-service/observed.ts';

/** `known`: the database that the installation was let in to before. */
export type ProbeDatabase = (
  url: string,
  own: { db: Queryable; known: string | undefined },
) => Promise<Observed['database']>;

export const probeDatabase: ProbeDatabase = async (url, own) => {
  const db = createDatabase({ url, maxConnections: 1, applicationName: 'tintype-operator-probe' });
  try {
    const theirs = await findDatabaseIdentity(db);
    const ours = await findDatabaseIdentity(own.db).catch(() => undefined);
    // The operator's own database may be down at this moment: the one that was let in before is the
    // same, any other is unknown.
    if (ours === undefined && own.known !== undefined && own.known !== theirs.id) {
      return { state: 'unreachable', why: UNKNOWN_WHETHER_SAME };
    }
    if (ours === undefined || ours.id === theirs.id) return { state: 'reachable', id: theirs.id };
    return { state: 'other', why: `'${theirs.name}' is not '${ours.name}'` };
  } catch (error) {
    return { state: 'unreachable', why: databaseMessage(error) };
  } finally {
    await db.close();
  }
};

const UNKNOWN_WHETHER_SAME =
  "it is not the same one as before, and whether the operator uses it is not known while the operator's own database does not answer";

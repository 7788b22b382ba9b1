/**
 * Whether PostgreSQL answers at the address of an installation, and is the one that the operator works with: the rows
 * of Projects would stand in another database than the one that delivery reads. Spec: Project.
 */
import { createDatabase, type Queryable } from '../../runtime/db/client.ts';
import { findDatabaseIdentity } from '../../runtime/db/database-identity.ts';
import { wordsOf } from '../../runtime/db/failures.ts';
import type { Observed } from '../image-service/observed.ts';

export type ProbeDatabase = (url: string, own: Queryable) => Promise<Observed['database']>;

export const probeDatabase: ProbeDatabase = async (url, own) => {
  const db = createDatabase({ url, maxConnections: 1, applicationName: 'tintype-operator-probe' });
  try {
    const theirs = await findDatabaseIdentity(db);
    // The operator's own may be away at this moment: that says nothing of theirs.
    const ours = await findDatabaseIdentity(own).catch(() => theirs);
    if (ours.id === theirs.id) return { state: 'reachable', id: theirs.id };
    return { state: 'other', why: `'${theirs.name}' is not '${ours.name}'` };
  } catch (error) {
    return { state: 'unreachable', why: wordsOf(error) };
  } finally {
    await db.close();
  }
};

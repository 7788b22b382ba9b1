/** Wraps a database to fail when the response of an Idempotency-Key is stored, as if the process were killed there. */
import type { Database } from '../../runtime/db/client.ts';
import { throughDatabase } from './through-database.ts';

export function withoutStoring(db: Database): Database {
  return throughDatabase(db, (to) => ({
    query: (text, values) => (isStoring(text) ? killed() : to.query(text, values)),
  }));
}

const isStoring = (text: string) => text.startsWith('update idempotency_keys');

async function killed(): Promise<never> {
  throw new Error('killed');
}

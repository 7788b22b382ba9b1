// Whether the server takes writes. With a full disk, or as a standby, it still answers reads: only a write tells.
import type { Database, QueryInterceptor } from './client.ts';
import { isMissingPrivilege, isWriteRefused } from './failures.ts';

type Writable = Pick<Database, 'query' | 'transaction'>;

/**
 * Rejects if the server takes no writes: as a standby, as it is set to read-only, or for want of
 * space. Resolves to false if that cannot be tried, as temporary tables are not allowed.
 */
export async function requireWritable(db: Writable): Promise<boolean> {
  try {
    await db.transaction(async (tx) => {
      // An empty value means the disk of the database, wherever temporary tables usually are.
      await tx.query(`set local temp_tablespaces = ''`);
      await tx.query(WRITE);
    });
    return true;
  } catch (error) {
    if (isMissingPrivilege(error)) return false;
    throw error;
  }
}

/** 640 kB: more than the room that is left in files which are there already. */
const WRITE = `create temporary table tintype_written on commit drop as
  select lpad(n::text, 32, '0') as filler from generate_series(1, 10000) n`;

/**
 * Remembers that the server refused a write. It may take smaller ones meanwhile, into room that old
 * rows left, so only `requireWritable` ends this.
 */
export function createWriteCheck(): {
  watch: (intercept: QueryInterceptor) => QueryInterceptor;
  check: (db: Writable) => Promise<void>;
} {
  const state = { isRefused: false };
  return {
    watch: (intercept) => (statement, work) =>
      intercept(statement, work).catch((error: unknown) => {
        state.isRefused ||= isWriteRefused(error);
        throw error;
      }),
    check: async (db) => {
      await db.query('select 1');
      if (!state.isRefused) return;
      await requireWritable(db);
      state.isRefused = false;
    },
  };
}

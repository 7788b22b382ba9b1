/**
 * A leader's term whose writes are fenced in the database: it ends where a later term has begun there, and the next one
 * takes a higher number. It also ends where the database was restored or recreated, as nothing remembered of it is
 * valid any more. Without a database the term continues, to report that in conditions. Spec: Project.
 */
import type { Database } from '../runtime/db/client.ts';
import type { Log } from '../runtime/platform/log.ts';
import { Fenced, openFence, Rewound } from './fence.ts';
import type { Term } from './kube/lease.ts';

/** All writes of the term go through this database. */
export type FencedTerm = Term & {
  db: Database;
  /**
   * Once resolved, the database knows this term; throws if the term is no longer the newest, or if
   * that cannot be found out.
   */
  raised(): Promise<void>;
};

type Fencing = {
  db: Database;
  /** Namespace and name of the Lease. */
  lease: string;
  /** A name that no other process uses. */
  holder: string;
  log: Log;
};

export async function leadFenced(
  term: Term,
  { db, lease, holder, log }: Fencing,
  work: (term: FencedTerm) => Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  if (term.signal.aborted) end();
  term.signal.addEventListener('abort', end, { once: true });
  const { epoch, lease_uid } = term;
  const fence = openFence(db, { lease, lease_uid, epoch, holder });
  let isLogged = false;
  const endingTerm = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      const why = whyOver(error);
      // Logged once, also if the clock ended the term before: a process that was frozen tries to
      // write when it wakes up.
      if (why !== undefined && !isLogged) {
        isLogged = true;
        log.error(why, { error });
        end();
      }
      throw error;
    }
  };
  const fenced: FencedTerm = {
    epoch,
    lease_uid,
    signal: over.signal,
    isCurrent: () => !over.signal.aborted && term.isCurrent(),
    raised: () => endingTerm(fence.raised),
    db: {
      ...fence.db,
      transaction: (transact, options) => endingTerm(() => fence.db.transaction(transact, options)),
    },
  };
  await endingTerm(fence.raise).catch((error) => {
    log.warn('the term of the leader is not recorded in the database yet', { error });
  });
  await work(fenced);
  term.signal.removeEventListener('abort', end);
}

function whyOver(error: unknown): string | undefined {
  if (error instanceof Fenced) return 'another process leads: this one writes no more';
  return error instanceof Rewound
    ? 'the database is not the one that this term began in'
    : undefined;
}

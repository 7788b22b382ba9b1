/**
 * The database as one term of the leader writes it: each transaction first locks the row of the newest term, and aborts
 * unless the term is its own. So a leader that was frozen past its lease cannot write once another has begun, whatever
 * its clock says; nor can one that still remembers rows from before the database was restored or recreated. Spec:
 * Project.
 */
import type { Database } from '../runtime/db/client.ts';
import { insertOwnersElsewhere } from '../runtime/db/declared-rows.ts';
import {
  findNewestOperatorTerm,
  findOperatorTerm,
  type KnownTerm,
  lockOperatorTerm,
  type OperatorTerm,
  raiseOperatorTerm,
} from '../runtime/db/operator-terms.ts';
import { FOLDER_UID_PREFIX } from './files/check-document.ts';

export class Fenced extends Error {
  override readonly name = 'Fenced';

  constructor(own: OperatorTerm, newest: OperatorTerm) {
    super(
      `nothing was written: '${newest.holder}' leads by ${own.lease}${ofAnother(own, newest)} since term ${newest.epoch}, and this is term ${own.epoch} of '${own.holder}'`,
    );
  }
}

/** Two clusters whose operators share a database take it from each other for ever. */
function ofAnother(own: OperatorTerm, newest: OperatorTerm): string {
  if (isOneLease(own, newest)) return '';
  return ' (another Lease of that name: does another cluster use this database?)';
}

/**
 * The database lost this term's own record, so anything else that the term remembers may be lost
 * too.
 */
export class Rewound extends Error {
  override readonly name = 'Rewound';

  constructor({ lease, epoch }: OperatorTerm) {
    super(
      `nothing was written: the database no longer knows term ${epoch} of ${lease}, so it was restored or recreated; everything is compared again`,
    );
  }
}

export type Fence = {
  /** Reads work as usual; writes must be in a transaction. */
  db: Database;
  /** Makes this term the newest; throws Fenced if a later one has begun. */
  raise(): Promise<void>;
  /**
   * Raises the term if that has not happened yet, because the database was down when it began.
   * Otherwise checks that it still is the newest: throws Fenced or Rewound, as a write would.
   */
  raised(): Promise<void>;
};

export function openFence(db: Database, term: OperatorTerm): Fence {
  /** The table that holds this term's row. */
  let raisedIn: string | undefined;
  const raise = async () => {
    const last = await findNewestOperatorTerm(db);
    const isElsewhere = last !== undefined && !hadSameLease(term, last);
    if (isElsewhere) await recordOtherOwners(db);
    await raiseOperatorTerm(db, term);
    const newest = await findOperatorTerm(db, term.lease);
    if (newest === undefined || !isSame(newest, term)) throw new Fenced(term, newest ?? term);
    // Records again what was declared before the raise shut out all other writers.
    if (isElsewhere) await recordOtherOwners(db);
    raisedIn = newest.table;
  };
  const fenced: Database['transaction'] = (work, options) => {
    // Read before the transaction: another one may raise the term before this one has read the row.
    const table = raisedIn;
    return db.transaction(async (tx) => {
      proveTerm(await lockOperatorTerm(tx, term.lease), term, table);
      return work(tx);
    }, options);
  };
  return {
    raise,
    raised: async () => {
      const table = raisedIn;
      if (table === undefined) return raise();
      proveTerm(await findOperatorTerm(db, term.lease), term, table);
    },
    db: {
      ...db,
      transaction: async (work, options) => {
        try {
          return await fenced(work, options);
        } catch (error) {
          if (!(error instanceof NotRaised)) throw error;
          await raise();
          return fenced(work, options);
        }
      },
    },
  };
}

/**
 * Resources declared under another Lease may be another cluster's: their absence from this cluster
 * means nothing. Recorded before the term, so that nobody ever sees the term without this record.
 */
function recordOtherOwners(db: Database): Promise<void> {
  return insertOwnersElsewhere(db, { folder_prefix: FOLDER_UID_PREFIX });
}

/** Unknown, and so false, for a term that did not record its Lease. */
function hadSameLease(own: OperatorTerm, last: OperatorTerm): boolean {
  return last.lease_uid === own.lease_uid;
}

/** The database was down when the term began. */
class NotRaised extends Error {}

/** `table`: where this term was raised; undefined: not yet. */
function proveTerm(
  newest: KnownTerm | undefined,
  own: OperatorTerm,
  table: string | undefined,
): void {
  if (!knows(newest, own)) throw table === undefined ? new NotRaised() : new Rewound(own);
  // A restored dump of this very term contains its row too, in another table.
  if (table !== undefined && newest.table !== table) throw new Rewound(own);
  if (!isSame(newest, own)) throw new Fenced(own, newest);
}

/** True also if the newest term is later than this one. */
function knows(newest: KnownTerm | undefined, own: OperatorTerm): newest is KnownTerm {
  return newest !== undefined && newest.epoch >= own.epoch;
}

function isSame(left: OperatorTerm, right: OperatorTerm): boolean {
  return left.epoch === right.epoch && left.holder === right.holder;
}

function isOneLease(left: OperatorTerm, right: OperatorTerm): boolean {
  if (left.lease_uid === null || right.lease_uid === null) return true;
  return left.lease_uid === right.lease_uid;
}

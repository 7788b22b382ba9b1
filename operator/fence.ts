/**
 * The database as one term of the leader writes it: each transaction first locks the row of the newest term and ends,
 * having changed nothing, where that is not its own. So a leader that was frozen through its whole lease cannot write
 * once another has begun, whatever its clock says; nor can one that still knows rows of before the database was restored
 * or made anew. Spec: Project.
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

/** Two clusters whose operators have one database take it from one another for ever. */
function ofAnother(own: OperatorTerm, newest: OperatorTerm): string {
  if (isOneLease(own, newest)) return '';
  return ' (another Lease of that name: does another cluster use this database?)';
}

/** What this term had written down of itself is gone: so may be anything else that it remembers. */
export class Rewound extends Error {
  override readonly name = 'Rewound';

  constructor({ lease, epoch }: OperatorTerm) {
    super(
      `nothing was written: the database no longer knows term ${epoch} of ${lease}, so it was restored or made anew; all is compared from the beginning`,
    );
  }
}

export type Fence = {
  /** Reads are as ever; a write belongs in a transaction. */
  db: Database;
  /** Makes this term the newest; Fenced where a later one has begun. */
  raise(): Promise<void>;
  /**
   * Raises where nothing has yet, as the database was away when the term began; else looks whether it still is the newest:
   * throws Fenced or Rewound, as a write would.
   */
  raised(): Promise<void>;
};

export function openFence(db: Database, term: OperatorTerm): Fence {
  /** The table that it was written to. */
  let raisedIn: string | undefined;
  const raise = async () => {
    const last = await findNewestOperatorTerm(db);
    const isElsewhere = last !== undefined && !wasLedByOurs(term, last);
    if (isElsewhere) await noteElsewhere(db);
    await raiseOperatorTerm(db, term);
    const newest = await findOperatorTerm(db, term.lease);
    if (newest === undefined || !isSame(newest, term)) throw new Fenced(term, newest ?? term);
    // What came until nobody else could write any more.
    if (isElsewhere) await noteElsewhere(db);
    raisedIn = newest.table;
  };
  const fenced: Database['transaction'] = (work, options) => {
    // As it is now: another transaction may raise the term before this one has read it.
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
 * What was declared in the time of another Lease may be another cluster's: that it is not in this one says nothing. Noted
 * before the term is, so that nobody ever sees the one without the other.
 */
function noteElsewhere(db: Database): Promise<void> {
  return insertOwnersElsewhere(db, { folder_prefix: FOLDER_UID_PREFIX });
}

/** Of one that did not say by which Lease it led nobody knows. */
function wasLedByOurs(own: OperatorTerm, last: OperatorTerm): boolean {
  return last.lease_uid === own.lease_uid;
}

/** The database was away when the term began. */
class NotRaised extends Error {}

/** `table`: where this one was written to; undefined: nowhere yet. */
function proveTerm(
  newest: KnownTerm | undefined,
  own: OperatorTerm,
  table: string | undefined,
): void {
  if (!knows(newest, own)) throw table === undefined ? new NotRaised() : new Rewound(own);
  // A dump of this very term knows it as well.
  if (table !== undefined && newest.table !== table) throw new Rewound(own);
  if (!isSame(newest, own)) throw new Fenced(own, newest);
}

/** Or of one that came after it. */
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

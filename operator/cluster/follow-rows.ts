/**
 * Rows that somebody else changed beneath a resource: staff that suspended a project or blocked a file, or a hand in the
 * database. The resource is looked at again at once, so that its status is true and what drifted is healed.
 * Spec: Project (status).
 */

import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredRowChange,
  deleteOldDeclaredRowChanges,
  listDeclaredRowChanges,
} from '../../runtime/db/declared-row-changes.ts';
import type { FencedTerm } from '../fenced-term.ts';
import { sleep } from '../kube/timed-clock.ts';
import { CHANGES_MAX, createRowChanges, type RowChanges } from '../row-changes.ts';
import { absenceOf } from './database-gate.ts';
import type { TenantState } from './tenant-controllers.ts';
import { tenantTypes } from './tenant-object.ts';

/** Enough for a reader that is behind to see that it is. */
const KEPT = 2 * CHANGES_MAX;
/** Between two that old numbers are deleted. */
const TURNS = 1000;

export type RowsToFollow = RowChanges<DeclaredRowChange>;

/** From now on: before anything is looked at, so that no change falls in between. */
export async function openRowsToFollow(state: TenantState, db: Queryable): Promise<RowsToFollow> {
  const changes = createRowChanges({
    list: (page) => listDeclaredRowChanges(db, page),
    keyOf: printChange,
  });
  await changes.take().catch((error) => tellTrouble(state, error));
  return changes;
}

/** For as long as the term goes on. */
export async function followRows(
  state: TenantState,
  term: FencedTerm,
  changes: RowsToFollow,
): Promise<void> {
  for (let turn = 1; !term.signal.aborted; turn += 1) {
    await sleep(state.clock, state.poll_ms, term.signal);
    try {
      const { changed, isAll } = await changes.take();
      if (isAll) lookAtAll(state);
      else for (const change of changed) lookAt(state, change);
      if (turn % TURNS === 0) await forget(term);
    } catch (error) {
      tellTrouble(state, error);
    }
  }
}

/** Of a database that is away each pass says it, and what changed meanwhile is found afterwards. */
function tellTrouble({ log }: TenantState, error: unknown): void {
  if (absenceOf(error) !== undefined) return;
  log.warn('changes of rows cannot be read, and will be', { error });
}

function printChange({ kind, owner_namespace, owner_name }: DeclaredRowChange): string {
  return `${kind} ${owner_namespace}/${owner_name}`;
}

function lookAt(
  { caches, queues }: TenantState,
  { kind, owner_namespace, owner_name }: DeclaredRowChange,
): void {
  const type = tenantTypes.find((each) => each.kind === kind);
  const key = `${owner_namespace}/${owner_name}`;
  if (type !== undefined && caches.get(type.kind, key)) queues.get(type.kind)?.add(key, 'change');
}

export function lookAtAll({ caches, queues }: TenantState): void {
  for (const [kind, queue] of queues) {
    for (const key of caches.keys(kind)) queue.add(key, 'resync');
  }
}

function forget({ db }: FencedTerm): Promise<void> {
  return db.transaction((tx) => deleteOldDeclaredRowChanges(tx, KEPT));
}

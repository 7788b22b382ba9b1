/**
 * Rows that somebody else changed beneath a resource: staff that suspended a project or blocked a file, or a hand in the
 * database. The resource is looked at again at once, so that its status is true and what drifted is healed.
 * Spec: Project (status).
 */
import {
  type DeclaredRowChange,
  deleteOldDeclaredRowChanges,
  listDeclaredRowChanges,
} from '../../runtime/db/declared-row-changes.ts';
import type { FencedTerm } from '../fenced-term.ts';
import { sleep } from '../kube/timed-clock.ts';
import { CHANGES_MAX, createRowChanges } from '../row-changes.ts';
import { absenceOf } from './database-gate.ts';
import type { TenantState } from './tenant-controllers.ts';
import { tenantTypes } from './tenant-object.ts';

/** Enough for a reader that is behind to see that it is. */
const KEPT = 2 * CHANGES_MAX;
/** Between two that old numbers are deleted. */
const TURNS = 1000;

/** For as long as the term goes on. */
export async function followRows(state: TenantState, term: FencedTerm): Promise<void> {
  const changes = createRowChanges({
    list: (page) => listDeclaredRowChanges(term.db, page),
    keyOf: printChange,
  });
  for (let turn = 1; !term.signal.aborted; turn += 1) {
    try {
      const { changed, isAll } = await changes.take();
      // The first time too: of what changed before it nobody is told.
      if (isAll) lookAtAll(state);
      else for (const change of changed) lookAt(state, change);
      if (turn % TURNS === 0) await forget(term);
    } catch (error) {
      // Each pass says it, and what changed meanwhile is found afterwards.
      if (absenceOf(error) === undefined) {
        state.log.warn('changes of rows cannot be read, and will be', { error });
      }
    }
    await sleep(state.clock, state.poll_ms, term.signal);
  }
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

/**
 * Notices rows that somebody else changed: staff that suspended a project or blocked a file, or a manual change in the
 * database. The resource is reconciled again at once, so that its status is true and drift is healed. Spec: Project
 * (status).
 */
import { SLASHED_CHAIN_PRESET } from '../../runtime/core/delivery/chain-pattern.ts';
import {
  type DeclaredRowChange,
  deleteDeclaredRowChanges,
  listDeclaredRowChanges,
} from '../../runtime/db/declared-row-changes.ts';
import type { FencedTerm } from '../fenced-term.ts';
import { keyOf } from '../kube/resource.ts';
import { sleep } from '../kube/timed-clock.ts';
import { databaseProblemOf } from './database-gate.ts';
import type { TenantState } from './tenant-controllers.ts';
import { type TenantObject, tenantKindOf } from './tenant-object.ts';

/** With this many changes at once, every resource is reconciled. */
const CHANGES_MAX = 500;

/** Runs for the whole term. */
export async function followRows(state: TenantState, term: FencedTerm): Promise<void> {
  while (!term.signal.aborted) {
    await sleep(state.clock, state.poll_ms, term.signal);
    await requeueChanges(state, term).catch((error) => {
      // Each pass reports that the database is down, and the end of the term was reported already.
      if (databaseProblemOf(error) !== undefined || term.signal.aborted) return;
      state.log.warn('changed rows could not be read; retrying', { error });
    });
  }
}

/** Deletes the changes once they are queued: the next leader reconciles everything anyway. */
async function requeueChanges(
  state: TenantState,
  { db, signal, raised }: FencedTerm,
): Promise<void> {
  const { namespaces } = state;
  // A term that writes nothing would long miss that the database was restored.
  await raised();
  const changes = await listDeclaredRowChanges(db, { namespaces, limit: CHANGES_MAX });
  if (changes.length === 0 || signal.aborted) return;
  if (changes.length === CHANGES_MAX) requeueAll(state);
  else for (const change of changes) requeueChanged(state, change);
  await db.transaction((tx) => deleteDeclaredRowChanges(tx, changes));
}

function requeueChanged(
  state: TenantState,
  { kind: name, owner_namespace, owner_name }: DeclaredRowChange,
): void {
  const kind = tenantKindOf(name);
  const key = keyOf({ namespace: owner_namespace, name: owner_name });
  const object = kind && state.caches.get(kind, key);
  if (kind === undefined || object === undefined) return;
  state.queues.get(kind)?.add(key, 'change');
  if (kind === 'Project') requeueRecipes(state, object);
}

/**
 * A recipe that names one of the project's presets reports whether that preset exists. Other
 * recipes need no new pass.
 */
function requeueRecipes({ caches, queues, dependants }: TenantState, project: TenantObject): void {
  for (const { kind, key } of dependants.of('Project', project)) {
    const chain = kind === 'Recipe' && caches.get(kind, key)?.spec?.['transformChain'];
    if (typeof chain === 'string' && `/${chain}`.includes(SLASHED_CHAIN_PRESET))
      queues.get('Recipe')?.add(key, 'resync');
  }
}

export function requeueAll({ caches, queues }: TenantState): void {
  for (const [kind, queue] of queues) {
    for (const key of caches.keys(kind)) queue.add(key, 'resync');
  }
}

/**
 * Rows whose resource went while nobody watched, or whose finalizer somebody took away: they are let go of as if its
 * deletion had been seen. Where most of all resources are missing it is the database that is another's, and nothing is
 * touched. Spec: Project.
 */
import type { Queryable } from '../../runtime/db/client.ts';
import { listClusterOwners, type OwnerRow } from '../../runtime/db/declared-rows.ts';
import type { FencedTerm } from '../fenced-term.ts';
import { FOLDER_UID_PREFIX } from '../files/check-document.ts';
import { sleep } from '../kube/timed-clock.ts';
import type { TenantState } from './tenant-controllers.ts';
import { type TenantKind, tenantTypes } from './tenant-object.ts';

/** So many may go at once whatever share of all they are. */
const FEW = 10;

/** For as long as the term goes on. */
export async function sweepOrphans(state: TenantState, term: FencedTerm): Promise<void> {
  for (let turn = 1; !term.signal.aborted; turn += 1) {
    // In the first turn nothing was looked at yet.
    const namesakes = turn === 1 ? 'take up' : 'have taken up';
    await sweep(state, term.db, namesakes).catch((error) => {
      state.log.warn('rows could not be compared with resources, and will be', { error });
    });
    await sleep(state.clock, state.resync_ms, term.signal);
  }
}

/** Whether resources of the same name, as where all was declared anew, have had their turn at the rows of their namesakes. */
type Namesakes = 'take up' | 'have taken up';

async function sweep(state: TenantState, db: Queryable, namesakes: Namesakes): Promise<void> {
  // A cache that is behind would make an orphan of what it has not heard of.
  if (state.caches.health().some(({ isSynced, isStale }) => !isSynced || isStale)) return;
  const owners = (await listClusterOwners(db, { folder_prefix: FOLDER_UID_PREFIX })).filter(
    ({ namespace }) => state.namespaces.length === 0 || state.namespaces.includes(namespace),
  );
  const orphans = owners.filter((owner) => isOrphan(state, owner, namesakes));
  if (orphans.length > FEW && orphans.length > owners.length / 2) {
    state.log.error(
      'most rows belong to resources that are not in this cluster, and are left alone: is TINTYPE_DATABASE_URL the database of this cluster, and TINTYPE_WATCH_NAMESPACES right?',
      { count: orphans.length },
    );
    return;
  }
  for (const orphan of orphans) letGoOf(state, orphan);
}

function isOrphan(
  { caches }: TenantState,
  { kind, namespace, name, uid }: OwnerRow,
  namesakes: Namesakes,
): boolean {
  const type = tenantTypes.find((each) => each.kind === kind);
  if (type === undefined) return false;
  const live = caches.get(type.kind, `${namespace}/${name}`);
  if (live === undefined || live.metadata.uid === uid) return live === undefined;
  return namesakes === 'have taken up' && !ALWAYS_TAKEN_UP.includes(type.kind);
}

/** Whatever they declare. What belongs to a project may be declared in another one by now. */
const ALWAYS_TAKEN_UP: readonly TenantKind[] = ['Project', 'SigningKey'];

function letGoOf(state: TenantState, { kind, namespace, name, uid }: OwnerRow): void {
  const type = tenantTypes.find((each) => each.kind === kind);
  if (type === undefined) return;
  const key = `${namespace}/${name}`;
  state.departed.add(type.kind, key, { metadata: { namespace, name, uid, resourceVersion: '' } });
  state.queues.get(type.kind)?.add(key, 'resync');
}

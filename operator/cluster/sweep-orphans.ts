/**
 * Releases rows whose resource was deleted while nobody watched, or whose finalizer somebody removed, as if the
 * deletion had been seen. Where most resources are missing, the database belongs to another cluster, and nothing is
 * touched. Spec: Project.
 */
import type { Database } from '../../runtime/db/client.ts';
import {
  type ClusterOwnerRow,
  deleteOwnersElsewhere,
  listClusterOwners,
  listOwnersElsewhere,
  type OwnerRow,
} from '../../runtime/db/declared-rows.ts';
import type { FencedTerm } from '../fenced-term.ts';
import { FOLDER_UID_PREFIX } from '../files/check-document.ts';
import { keyOf } from '../kube/resource.ts';
import { sleep } from '../kube/timed-clock.ts';
import type { TenantState } from './tenant-controllers.ts';
import { declaredSlug, type TenantKind, type TenantObject, tenantKindOf } from './tenant-object.ts';

/** Up to this many may be released at once, whatever their share of all rows. */
const FEW = 10;

/**
 * Runs for the whole term. A sweep follows soon after a failed one, and when a namespace becomes
 * visible that was not.
 */
export async function sweepOrphans(state: TenantState, term: FencedTerm): Promise<void> {
  const { clock, log, resync_ms, retry_ms } = state;
  const compared: Compared = new Map();
  while (!term.signal.aborted) {
    const behind = findBehind(state);
    const pause_ms = await sweep(state, term, compared).then(
      () => resync_ms,
      (error) => {
        log.warn('rows could not be compared with resources; retrying', { error });
        return retry_ms;
      },
    );
    const until = clock.elapsed() + pause_ms;
    const isOver = () => term.signal.aborted || clock.elapsed() >= until || isAhead(state, behind);
    const turn_ms = behind.includes(true) ? Math.min(retry_ms, pause_ms) : pause_ms;
    do await sleep(clock, turn_ms, term.signal);
    while (!isOver());
  }
}

/** One entry per cache, in their order. */
function findBehind({ caches }: TenantState): boolean[] {
  return caches.health().map(({ isSynced, isStale }) => !isSynced || isStale);
}

/** Whether one has caught up since. */
function isAhead(state: TenantState, before: readonly boolean[]): boolean {
  return findBehind(state).some((isBehind, index) => before[index] && !isBehind);
}

/**
 * The time at which a namespace was first compared. After everything was declared anew, a resource
 * may first take back the rows of its predecessor of the same name, until another resync has
 * passed. Each namespace has its own time, as one may stay unreadable for ever.
 */
type Compared = Map<string, number>;

async function sweep(state: TenantState, term: FencedTerm, compared: Compared): Promise<void> {
  // Raising the term also records which owners another cluster declared.
  await term.raised();
  const { db } = term;
  const all = await listClusterOwners(db, { folder_prefix: FOLDER_UID_PREFIX });
  const owners = (await withoutElsewhere(state, db, all)).filter(
    (owner) => isWatched(state, owner) && isCurrent(state, owner.namespace) && !owner.is_kept,
  );
  const orphans = owners.flatMap((owner) => asOrphan(state, owner, compared));
  if (orphans.length > FEW && orphans.length > owners.length / 2) {
    state.log.error(
      'most rows belong to resources that are not in this cluster, and are left alone: is TINTYPE_DATABASE_URL the database of this cluster, and TINTYPE_WATCH_NAMESPACES right?',
      { count: orphans.length },
    );
  } else {
    for (const orphan of orphans) {
      if (await isSoNow(state, orphan)) letGoOf(state, orphan);
    }
  }
  for (const { namespace } of owners) {
    if (!compared.has(namespace)) compared.set(namespace, state.clock.elapsed());
  }
}

function isWatched({ namespaces }: TenantState, { namespace }: OwnerRow): boolean {
  return namespaces.length === 0 || namespaces.includes(namespace);
}

/** A cache that was never listed, or is long out of date, would turn every row into an orphan. */
function isCurrent({ caches }: TenantState, namespace: string): boolean {
  return caches.health(namespace).every(({ isSynced, isStale }) => isSynced && !isStale);
}

/**
 * A resource of another cluster that is missing here was not deleted. Resources that do exist here
 * are unmarked.
 */
async function withoutElsewhere(
  state: TenantState,
  db: Database,
  all: readonly ClusterOwnerRow[],
): Promise<readonly ClusterOwnerRow[]> {
  const recorded = new Set(await listOwnersElsewhere(db));
  if (recorded.size === 0) return all;
  const { caches, log } = state;
  const isHere = ({ kind, uid, ...place }: OwnerRow) =>
    caches.get(kind as TenantKind, keyOf(place))?.metadata.uid === uid;
  const elsewhere = new Set(
    all.filter((owner) => recorded.has(owner.uid) && !isHere(owner)).map(({ uid }) => uid),
  );
  const uids = [...recorded].filter((uid) => !elsewhere.has(uid));
  if (uids.length > 0) await db.transaction((tx) => deleteOwnersElsewhere(tx, { uids }));
  const left = all.filter((owner) => elsewhere.has(owner.uid) && isWatched(state, owner));
  const [first] = left;
  if (first !== undefined) {
    log.warn(
      'rows whose resources belong to another cluster are left alone until they are declared in this one; the first is named',
      { count: left.length, kind: first.kind, name: keyOf(first) },
    );
  }
  return all.filter(({ uid }) => !elsewhere.has(uid));
}

/** A row whose owner is gone; `live` is the cached resource of the same name, if any. */
type Orphan = Omit<OwnerRow, 'kind'> & { kind: TenantKind; live: TenantObject | undefined };

function asOrphan(state: TenantState, owner: ClusterOwnerRow, compared: Compared): Orphan[] {
  const { caches, clock, resync_ms } = state;
  const kind = tenantKindOf(owner.kind);
  if (kind === undefined) return [];
  const live = caches.get(kind, keyOf(owner));
  if (live === undefined) return [{ ...owner, kind, live }];
  if (live.metadata.uid === owner.uid) return [];
  const since = compared.get(owner.namespace);
  const hadItsTurn = since !== undefined && clock.elapsed() - since >= resync_ms;
  // Such a Project takes the project over once nothing keeps it from doing so; until then the project must not stop.
  const isComing = kind === 'Project' && declaredSlug(live) === owner.project_slug;
  const isLeft = hadItsTurn && !isComing;
  return isLeft ? [{ ...owner, kind, live }] : [];
}

/** A new leader's caches may lack what was created under the previous leader. */
async function isSoNow({ caches }: TenantState, { kind, live, ...place }: Orphan) {
  const now = await caches.findNow(kind, place);
  return now?.metadata.uid === live?.metadata.uid;
}

function letGoOf(state: TenantState, { kind, namespace, name, uid }: Orphan): void {
  const key = keyOf({ namespace, name });
  state.deleted.add(kind, key, { metadata: { namespace, name, uid, resourceVersion: '' } });
  state.queues.get(kind)?.add(key, 'resync');
}

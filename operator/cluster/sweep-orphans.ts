/**
 * Rows whose resource went while nobody watched, or whose finalizer somebody took away: they are let go of as if its
 * deletion had been seen. Where most of all resources are missing it is the database that is another's, and nothing is
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
import { type TenantKind, type TenantObject, tenantTypes } from './tenant-object.ts';

/** So many may go at once whatever share of all they are. */
const FEW = 10;

/**
 * For as long as the term goes on. A comparison that failed is soon repeated, and one soon follows where a namespace comes
 * to be seen that was not.
 */
export async function sweepOrphans(state: TenantState, term: FencedTerm): Promise<void> {
  const { clock, log, resync_ms, retry_ms } = state;
  const compared: Compared = new Map();
  while (!term.signal.aborted) {
    const behind = findBehind(state);
    const pause_ms = await sweep(state, term, compared).then(
      () => resync_ms,
      (error) => {
        log.warn('rows could not be compared with resources, and will be', { error });
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

/** Of each cache, in their order. */
function findBehind({ caches }: TenantState): boolean[] {
  return caches.health().map(({ isSynced, isStale }) => !isSynced || isStale);
}

/** One has caught up. */
function isAhead(state: TenantState, before: readonly boolean[]): boolean {
  return findBehind(state).some((isBehind, index) => before[index] && !isBehind);
}

/**
 * Since when a namespace is compared. Resources of the same name, as where all was declared anew, have their turn at the
 * rows of their namesakes until it is once more: each namespace for itself, as one that may not be looked at can stay so
 * for ever.
 */
type Compared = Map<string, number>;

async function sweep(state: TenantState, term: FencedTerm, compared: Compared): Promise<void> {
  // Only then is it noted what another cluster has declared.
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

/** What was never listed, or is long out of date, would make an orphan of everything. */
function isCurrent({ caches }: TenantState, namespace: string): boolean {
  return caches.health(namespace).every(({ isSynced, isStale }) => isSynced && !isStale);
}

/** That a resource of another cluster is not here is no deletion. Those that are here after all are told apart. */
async function withoutElsewhere(
  state: TenantState,
  db: Database,
  all: readonly ClusterOwnerRow[],
): Promise<readonly ClusterOwnerRow[]> {
  const noted = new Set(await listOwnersElsewhere(db));
  if (noted.size === 0) return all;
  const { caches, log } = state;
  const isHere = ({ kind, uid, ...place }: OwnerRow) =>
    caches.get(kind as TenantKind, keyOf(place))?.metadata.uid === uid;
  const elsewhere = new Set(
    all.filter((owner) => noted.has(owner.uid) && !isHere(owner)).map(({ uid }) => uid),
  );
  const uids = [...noted].filter((uid) => !elsewhere.has(uid));
  if (uids.length > 0) await db.transaction((tx) => deleteOwnersElsewhere(tx, { uids }));
  const left = all.filter((owner) => elsewhere.has(owner.uid) && isWatched(state, owner));
  const [first] = left;
  if (first !== undefined) {
    log.warn(
      'rows are left alone whose resources are of another cluster, until they are declared in this one; the first is named',
      { count: left.length, kind: first.kind, name: keyOf(first) },
    );
  }
  return all.filter(({ uid }) => !elsewhere.has(uid));
}

/** The resource that the row names as its owner went; `live` is what the cache has in its place. */
type Orphan = Omit<OwnerRow, 'kind'> & { kind: TenantKind; live: TenantObject | undefined };

function asOrphan(state: TenantState, owner: ClusterOwnerRow, compared: Compared): Orphan[] {
  const { caches, clock, resync_ms } = state;
  const kind = tenantTypes.find((each) => each.kind === owner.kind)?.kind;
  if (kind === undefined) return [];
  const live = caches.get(kind, keyOf(owner));
  if (live === undefined) return [{ ...owner, kind, live }];
  if (live.metadata.uid === owner.uid) return [];
  const since = compared.get(owner.namespace);
  const hadItsTurn = since !== undefined && clock.elapsed() - since >= resync_ms;
  const isLeft = hadItsTurn && !(kind === 'Project' && isOfSlug(live, owner));
  return isLeft ? [{ ...owner, kind, live }] : [];
}

/** It takes the project up once nothing stands against it, which may not stop for its sake until then. */
function isOfSlug({ metadata, spec }: TenantObject, { project_slug }: ClusterOwnerRow): boolean {
  return (spec?.slug ?? metadata.name) === project_slug;
}

/** A leader that is new may not have heard yet of what was made under the one before. */
async function isSoNow({ caches }: TenantState, { kind, live, ...place }: Orphan) {
  const now = await caches.findNow(kind, place);
  return now?.metadata.uid === live?.metadata.uid;
}

function letGoOf(state: TenantState, { kind, namespace, name, uid }: Orphan): void {
  const key = keyOf({ namespace, name });
  state.departed.add(kind, key, { metadata: { namespace, name, uid, resourceVersion: '' } });
  state.queues.get(kind)?.add(key, 'resync');
}

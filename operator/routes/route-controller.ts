/**
 * Keeps the routes of all projects, including those made through the API, for as long as this process leads. Changed
 * resources, routes and rows wake it; in addition everything is compared once a minute.
 */
import { isDeepStrictEqual } from 'node:util';
import type { RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import type { Log } from '../../runtime/platform/log.ts';
import { databaseProblemOf } from '../cluster/database-gate.ts';
import { directiveOf } from '../cluster/directives.ts';
import type { TenantChange } from '../cluster/object-caches.ts';
import { declaredSlug, isBeingDeleted, type TenantObject } from '../cluster/tenant-object.ts';
import type { Condition } from '../conditions.ts';
import { createWriteHistory } from '../installation/write-history.ts';
import { NotLeading } from '../kube/leader-client.ts';
import type { Term } from '../kube/lease.ts';
import { findCondition } from '../kube/live-condition.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { type Pass, runWorkers } from '../kube/run-workers.ts';
import { ended, sleep } from '../kube/timed-clock.ts';
import { createWorkQueue, type Outcome, type WorkQueue } from '../kube/work-queue.ts';
import {
  findSubject,
  hasSyncedCondition,
  judgeFromCaches,
  type RouteContext,
  routeProject,
} from './project-route.ts';
import { isReported } from './report-to-project.ts';
import { createRowChanges } from './row-changes.ts';
import { findUnsettled, subjectKey } from './sweep.ts';
import type { RoutedReason } from './verdict.ts';

export type RouteController = {
  /** Works until the term ends; resolves once all work has stopped. */
  lead(term: Term): Promise<void>;
  /**
   * What a project's resource may report about its routes now; undefined unless this process leads
   * and has seen everything.
   */
  judge(object: TenantObject, project: RoutedProjectRow | undefined): Condition | undefined;
};

export type RouteOptions = {
  context: Omit<RouteContext, 'history' | 'reportedConditions'>;
  log: Log;
  metrics: KubeMetrics;
  random?: () => number;
  /** How often everything is compared. */
  sweep_ms?: number;
  /** How often the rows are asked for changes. */
  poll_ms?: number;
  /** How soon a host that did not answer is probed again. */
  retry_ms?: number;
};

const NAME = 'Route';
const CONCURRENCY = 4;
const SWEEP_MS = 60_000;
const POLL_MS = 2_000;
const RETRY_MS = 10_000;

const UNROUTED: readonly RoutedReason[] = ['RouteTaken', 'HostTaken'];

type State = Required<RouteOptions> & {
  context: RouteContext;
  /** Undefined while another process leads. */
  queue: WorkQueue | undefined;
  /** Every route may have another target now. */
  isDue: boolean;
};

export function createRouteController(options: RouteOptions): RouteController {
  const state: State = {
    ...{ random: Math.random, sweep_ms: SWEEP_MS, poll_ms: POLL_MS, retry_ms: RETRY_MS },
    ...options,
    context: {
      ...options.context,
      history: createWriteHistory(options.context.clock),
      reportedConditions: new Map(),
    },
    queue: undefined,
    isDue: true,
  };
  const { caches, edges } = options.context;
  caches.subscribe((kind, change) => {
    if (kind === 'Project') handleChange(state, change);
  });
  edges.subscribe((slug) => {
    if (slug === undefined) state.isDue = true;
    else state.queue?.add(slug, 'change');
  });
  return {
    lead: (term) => lead(state, term),
    judge: (object, project) => {
      const subject = { slug: project?.project_slug, project, object };
      return state.queue && judgeFromCaches(subject, state.context);
    },
  };
}

function handleChange(
  { queue, context }: State,
  { kind, key, object, previous }: TenantChange,
): void {
  if (kind === 'deleted') context.reportedConditions.delete(previous.metadata.uid);
  if (kind === 'updated') {
    if (isSame(object, previous)) return;
    if (
      isOwnCondition(object, {
        previous,
        said: context.reportedConditions.get(object.metadata.uid),
      })
    )
      return;
  }
  if (object !== undefined && !hasSyncedCondition(object)) return;
  queue?.add(key, 'change');
  // The project stays when its resource is deleted.
  if (kind === 'deleted') queue?.add(declaredSlug(previous), 'change');
}

/** Compares only what routes depend on, and not everything that a pass over the rows writes. */
function isSame(object: TenantObject, previous: TenantObject): boolean {
  const facts = ({ metadata, status = {} }: TenantObject) => [
    metadata.generation,
    directiveOf({ metadata }),
    status.observedGeneration,
    status['projectID'],
    findCondition(status, 'Synced')?.status,
    ...Object.values(findCondition(status, 'Routed') ?? {}),
  ];
  return (
    isBeingDeleted(object) === isBeingDeleted(previous) &&
    facts(object).join() === facts(previous).join()
  );
}

/**
 * Whether the new condition is this process's own, written after a look at the routes; one that
 * others wrote is corrected.
 */
function isOwnCondition(
  object: TenantObject,
  { previous, said }: { previous: TenantObject; said: Condition | undefined },
): boolean {
  const [now, before] = [object, previous].map(({ status }) => findCondition(status, 'Routed'));
  return said !== undefined && !isDeepStrictEqual(now, before) && isReported(object, said);
}

async function lead(state: State, term: Term): Promise<void> {
  const { context } = state;
  // Nothing is decided before everything has been listed: a route might seem superfluous.
  const all = Promise.all([context.caches.synced, context.edges.synced]);
  await Promise.race([all, ended(term.signal)]);
  if (term.signal.aborted) return;
  const clocked = { ...state, clock: context.clock, concurrency: CONCURRENCY };
  const queue = createWorkQueue({ ...clocked, name: NAME });
  state.queue = queue;
  context.history = createWriteHistory(context.clock);
  state.isDue = true;
  const reconcile = (pass: Pass) => passOrWait(state, pass, term);
  const workers = runWorkers({ ...clocked, controller: NAME, queue, reconcile });
  await follow(state, queue, term.signal);
  await workers.stop();
  state.queue = undefined;
  context.reportedConditions.clear();
}

/** One loop for everything periodic: after a failure it goes on with the next turn. */
async function follow(state: State, queue: WorkQueue, signal: AbortSignal): Promise<void> {
  const { context, log, poll_ms } = state;
  const turn = createTurn(state, queue);
  while (!signal.aborted) {
    await turn().catch((error) => {
      state.isDue = true;
      log.warn('routes could not be compared; retrying', { error });
    });
    await sleep(context.clock, poll_ms, signal);
  }
}

function createTurn(state: State, queue: WorkQueue): () => Promise<void> {
  const { context, sweep_ms } = state;
  const changes = createRowChanges(context.db);
  let swept_at = -Infinity;
  return async () => {
    const { slugs, isAll } = await changes.take();
    for (const slug of slugs) queue.add(slug, 'change');
    const isOver = context.clock.elapsed() - swept_at >= sweep_ms;
    if (!isAll && !state.isDue && !isOver) return;
    state.isDue = false;
    for (const key of await findUnsettled(context)) queue.add(key, 'resync');
    swept_at = context.clock.elapsed();
  };
}

/** Without the database no key is retried by itself: everything is compared once it is back. */
async function passOrWait(state: State, pass: Pass, term: Term): Promise<Outcome> {
  try {
    return await runPass(state, pass, term);
  } catch (error) {
    if (databaseProblemOf(error) === undefined) throw error;
    state.isDue = true;
    state.log.warn('the database is unavailable', { kind: NAME, name: pass.key, error });
    return { kind: 'done' };
  }
}

async function runPass(state: State, { key, signal }: Pass, term: Term): Promise<Outcome> {
  if (!term.isCurrent()) throw new NotLeading();
  const { context, queue, log, retry_ms } = state;
  const subject = await findSubject(key, context);
  const own = subjectKey(subject);
  if (own !== key && own !== '') {
    queue?.add(own, 'change');
    return { kind: 'done' };
  }
  if (subject.project === undefined && subject.object === undefined && key.includes('/')) {
    return { kind: 'done' };
  }
  const pass = await routeProject(subject, context, signal);
  if (pass === undefined) return { kind: 'done' };
  const { condition, newMutations, retry_after_ms } = pass;
  const { reason, message } = condition;
  if (UNROUTED.includes(reason)) log.warn('a host has no route to delivery', { name: key, reason });
  if (reason === 'RouteUndone')
    log.warn('a route is repeatedly changed by someone else', { name: key, advice: message });
  for (const { paths, ...route } of newMutations) {
    log.info('an admission policy changes a route', {
      kind: route.kind,
      name: route.name,
      changes: paths,
    });
  }
  const after_ms = Math.min(
    retry_after_ms ?? Infinity,
    reason === 'NotAnswering' ? retry_ms : Infinity,
  );
  return after_ms === Infinity ? { kind: 'done' } : { kind: 'requeue', after_ms };
}

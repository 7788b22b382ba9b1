/**
 * The controller of ImageServices, for as long as this process leads. Watches only say which one to examine: each pass
 * reads the current state. Things that are not watched, such as Secrets and ConfigMaps, are checked once a minute.
 */

import type { Log } from '../../runtime/platform/log.ts';
import { hasSameDirectives } from '../cluster/directives.ts';
import type { FencedTerm } from '../fenced-term.ts';
import type { CacheHealth } from '../kube/cache-health.ts';
import { NotLeading } from '../kube/leader-client.ts';
import type { ChangeHandler } from '../kube/listeners.ts';
import { type KubeObject, keyOf, parseKey, type ResourceType } from '../kube/resource.ts';
import { type Pass, runWorkers } from '../kube/run-workers.ts';
import { ended } from '../kube/timed-clock.ts';
import { openWatchCache, type WatchCache } from '../kube/watch-cache.ts';
import { createWorkQueue, type Outcome, spread, type WorkQueue } from '../kube/work-queue.ts';
import { INSTANCE, imageServices, ownedLabels, ownedTypes, pods } from './live-types.ts';
import {
  type PassContext,
  type PassResult,
  reconcileInstallation,
} from './reconcile-installation.ts';
import { createWriteHistory } from './write-history.ts';

export type InstallationController = {
  /** Works until the term ends; resolves once all work has stopped. */
  lead(term: FencedTerm): Promise<void>;
  /** The health of the open watches; empty while another process leads. */
  health(): CacheHealth[];
};

export type InstallationOptions = {
  context: Omit<PassContext, 'db' | 'namespaces' | 'history'>;
  /** The namespaces that may hold ImageServices. */
  namespaces: readonly string[];
  log: Log;
  random?: () => number;
  /** How often an installation that is as declared is compared again. */
  resync_ms?: number;
  /** Called after every pass, with its result. */
  onPass?: (key: string, result: PassResult) => void;
};

const NAME = 'ImageService';
/**
 * One at a time, so that the second ImageService sees that the first was let in to the database.
 */
const CONCURRENCY = 1;
const RESYNC_MS = 60_000;
/** Starting pods change many times a second. */
const SETTLE_MS = 200;

type Caches = Set<Pick<WatchCache<KubeObject>, 'health' | 'stop'>>;

type State = Required<InstallationOptions> & {
  context: Pick<PassContext, 'history'>;
  queue: WorkQueue;
  caches: Caches;
};

export function createInstallationController(options: InstallationOptions): InstallationController {
  const caches: Caches = new Set();
  return {
    lead: (term) => lead(options, term, caches),
    health: () => [...caches].map((cache) => cache.health()),
  };
}

async function lead(options: InstallationOptions, term: FencedTerm, caches: Caches): Promise<void> {
  if (term.signal.aborted) return;
  const { clock, metrics } = options.context;
  const worked = { clock, metrics, log: options.log, concurrency: CONCURRENCY };
  const queue = createWorkQueue({ ...worked, name: NAME });
  const state: State = {
    ...{ random: Math.random, resync_ms: RESYNC_MS, onPass: () => undefined },
    ...options,
    ...{ queue, caches },
    context: { ...options.context, history: createWriteHistory(clock) },
  };
  const reconcile = (pass: Pass) => runPass(state, pass, term);
  const workers = runWorkers({ ...worked, controller: NAME, queue, reconcile });
  for (const namespace of options.namespaces) watchAll(state, namespace);
  await ended(term.signal);
  const stops = [...caches].map((cache) => cache.stop());
  caches.clear();
  await Promise.all([workers.stop(), ...stops]);
  metrics.forgetInstallations();
}

function watchAll(state: State, namespace: string): void {
  const { queue } = state;
  const services = watch(state, imageServices, {
    namespace,
    take: ({ key, kind, object, previous }) => {
      if (kind !== 'updated' || !isOfStatus(object, previous)) queue.add(key, 'change');
    },
  });
  for (const type of [...ownedTypes, pods]) {
    const take: ChangeHandler<KubeObject> = ({ object, previous }) => {
      const name = (object ?? previous)?.metadata.labels?.[INSTANCE];
      if (name !== undefined) queue.addAfter(keyOf({ namespace, name }), SETTLE_MS, 'change');
    };
    const cache = watch(state, type, { namespace, labels: ownedLabels(), take });
    cache.onPresence(() => {
      for (const { metadata } of services.values()) queue.add(keyOf(metadata), 'change');
    });
  }
}

type Selected = { namespace: string; labels?: string };

function watch<T extends KubeObject>(
  { context: { client, clock, metrics }, log, caches }: State,
  type: ResourceType<T>,
  { take, ...selection }: Selected & { take: ChangeHandler<T> },
): WatchCache<T> {
  const cache = openWatchCache({ client, clock, metrics, log, type, selection });
  cache.subscribe(take);
  caches.add(cache);
  return cache;
}

function isOfStatus(object: KubeObject, previous: KubeObject): boolean {
  const isSame = object.metadata.generation === previous.metadata.generation;
  return isSame && hasSameDirectives(object, previous);
}

async function runPass(state: State, { key }: Pass, term: FencedTerm): Promise<Outcome> {
  if (!term.isCurrent()) throw new NotLeading();
  const { context, log, namespaces, onPass, random, resync_ms } = state;
  const result = await reconcileInstallation(parseKey(key), {
    ...context,
    namespaces,
    db: term.db,
  });
  if (result.written.length > 0) {
    const changes = result.written.map(({ change, kind, name }) => `${change} ${kind} ${name}`);
    log.info('an installation was written', { kind: NAME, name: key, changes });
  }
  if (!result.isPresent) context.metrics.forgetInstallation(key);
  onPass(key, result);
  const { requeue_after_seconds } = result;
  const soon = requeue_after_seconds === undefined ? resync_ms : requeue_after_seconds * 1000;
  const after_ms = spread(Math.min(soon, resync_ms), random);
  return result.isPresent ? { kind: 'requeue', after_ms } : { kind: 'done' };
}

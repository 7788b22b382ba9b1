/**
 * Reports ImageServices in namespaces that this operator sees but does not serve, which otherwise would never get a
 * status. A status by another operator stays, and it has a while to write one.
 */
import type { Log } from '../../runtime/platform/log.ts';
import { conditionsOf } from '../image-service/conditions.ts';
import type { CacheHealth } from '../kube/cache-health.ts';
import type { KubeClient } from '../kube/client.ts';
import { isNotFoundOrConflict } from '../kube/kube-failure.ts';
import type { Term } from '../kube/lease.ts';
import { findCondition } from '../kube/live-condition.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { sleep, type TimedClock } from '../kube/timed-clock.ts';
import { openWatchCache, type WatchCache } from '../kube/watch-cache.ts';
import { type ImageServiceObject, imageServices } from './live-types.ts';
import { statusOf } from './status.ts';

type Options = {
  client: KubeClient;
  clock: TimedClock;
  log: Log;
  metrics: KubeMetrics;
  /** The namespaces that this operator serves. */
  served: readonly string[];
  /** The namespaces that it may read; empty: all. */
  watched: readonly string[];
  /** How long another operator has to write a status. */
  patience_ms?: number;
};

const PATIENCE_MS = 20_000;
const LOOK_MS = 5_000;

export type UnservedReporter = {
  /** Reports for as long as the term lasts. */
  lead(term: Term): Promise<void>;
  /** The health of the open watches; empty while another process leads. */
  health(): CacheHealth[];
};

type Caches = readonly WatchCache<ImageServiceObject>[];

export function createUnservedReporter(options: Options): UnservedReporter {
  let caches: Caches = [];
  return {
    lead: async (term) => {
      caches = openCaches(options);
      await reportAll(caches, options, term);
      const over = caches;
      caches = [];
      await Promise.all(over.map((cache) => cache.stop()));
    },
    health: () => caches.map((cache) => cache.health()),
  };
}

function openCaches({ served, watched, ...options }: Options): Caches {
  const others = watched.filter((namespace) => !served.includes(namespace));
  const places = watched.length === 0 ? [undefined] : others;
  return places.map((namespace) =>
    openWatchCache({ ...options, type: imageServices, selection: { namespace } }),
  );
}

async function reportAll(caches: Caches, options: Options, term: Term): Promise<void> {
  const { patience_ms = PATIENCE_MS, served, clock, log } = options;
  while (!term.signal.aborted) {
    for (const service of findUnreported(caches, {
      served,
      before: clock.now().getTime() - patience_ms,
    })) {
      await report(service, options).catch((error) => {
        log.warn('the status of an ImageService that no operator serves could not be written', {
          error,
        });
      });
    }
    await sleep(clock, Math.min(LOOK_MS, patience_ms), term.signal);
  }
}

type Silence = { served: readonly string[]; before: number };

function findUnreported(caches: Caches, { served, before }: Silence): ImageServiceObject[] {
  return caches
    .flatMap((cache) => [...cache.values()])
    .filter(({ metadata, status }) => {
      const isOurs = served.includes(metadata.namespace ?? '');
      const isNew = Date.parse(metadata.creationTimestamp ?? '') > before;
      const ready = findCondition(status, 'Ready');
      const isReported =
        ready !== undefined &&
        (ready.reason !== REASON || ready.observedGeneration === metadata.generation);
      return !isOurs && !isNew && !isReported;
    });
}

const REASON = 'NamespaceNotServed';

async function report(
  service: ImageServiceObject,
  { client, clock, served }: Options,
): Promise<void> {
  const { name, namespace = '', uid, resourceVersion } = service.metadata;
  const where = served.map((each) => `'${each}'`).join(', ');
  const message = `No operator serves an ImageService in the namespace '${namespace}': create it in ${where}, or add '${namespace}' to TINTYPE_RUNTIME_NAMESPACES of the operator (\`runtimeNamespaces\` of the chart).`;
  const conditions = conditionsOf([{ type: 'Applied', reason: REASON, message }]);
  // Only for the version seen: the operator that serves it may have written meanwhile.
  const metadata = { name, namespace, uid, resourceVersion };
  const status = statusOf(service, { conditions }, clock.now());
  const answer = await client.applyStatus(
    imageServices,
    { metadata, status },
    { owner: 'tintype/status' },
  );
  if (!answer.ok && !isNotFoundOrConflict(answer.failure)) throw answer.failure;
}

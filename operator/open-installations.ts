/** Opens the controller of ImageServices, with everything that it examines inside and outside the cluster. */
import { findNewestMigration } from '../runtime/db/migrate.ts';
import type { Log } from '../runtime/platform/log.ts';
import type { KeyEncryptionKey } from '../runtime/platform/sealing.ts';
import {
  createInstallationController,
  type InstallationController,
} from './installation/installation-controller.ts';
import { probeDatabase } from './installation/probe-database.ts';
import { createProbeDependencies } from './installation/probe-dependencies.ts';
import { createUnservedReporter } from './installation/unserved-reporter.ts';
import type { KubeClient } from './kube/client.ts';
import type { EventRecorder } from './kube/events.ts';
import type { KubeMetrics } from './kube/metrics.ts';
import type { TimedClock } from './kube/timed-clock.ts';
import { createScaler } from './scaler/scaler.ts';
import { scrapePod } from './scaler/scrape-pod.ts';

type Options = {
  client: KubeClient;
  clock: TimedClock;
  log: Log;
  metrics: KubeMetrics;
  events: Pick<EventRecorder, 'record'>;
  /** The keys that the operator seals with. */
  keys: readonly KeyEncryptionKey[];
  /** The namespaces that may hold ImageServices. */
  namespaces: readonly string[];
  /** The namespaces that the operator may also read; empty: all. */
  watched: readonly string[];
};

/** Includes the scaler of workers, which learns about installations from the passes over them. */
export async function openInstallations(options: Options): Promise<InstallationController> {
  const { client, clock, log, metrics, events, keys, namespaces, watched } = options;
  const scaler = createScaler({ client, clock, log, metrics, scrape: scrapePod });
  const controller = createInstallationController({
    ...{ log, namespaces, onPass: scaler.take },
    context: {
      ...{ client, clock, events, keys, metrics, probeDatabase },
      schema_version: await findNewestMigration(),
      probeDependencies: createProbeDependencies(clock),
    },
  });
  const unservedReporter = createUnservedReporter({
    client,
    clock,
    log,
    metrics,
    served: namespaces,
    watched,
  });
  return {
    health: () => [...controller.health(), ...unservedReporter.health()],
    lead: async (term) => {
      await Promise.all([controller, scaler, unservedReporter].map((each) => each.lead(term)));
    },
  };
}

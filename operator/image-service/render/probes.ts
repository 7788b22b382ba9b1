/**
 * When a pod counts as started, receives requests, and is restarted. An outage of a dependency that the pod can do
 * without does not remove it from its Service: all pods depend on the same servers, so the whole Service would be down.
 */
import type { Process } from '../installation.ts';

const START_PERIOD_SECONDS = 2;
/**
 * A process waits by itself for a server that is down. It is restarted after this long, in case it
 * hangs.
 */
const START_SECONDS_MAX = 1800;

/**
 * Without its buckets, the API only refuses uploads. Images of earlier versions ignore the
 * exclusion.
 */
const WITHOUT_BUCKETS = '/readyz?exclude=ingest&exclude=content';

const live = { httpGet: { path: '/livez', port: 'metrics' } };
const ready = { httpGet: { path: '/readyz', port: 'metrics' } };

export function probesOf(process: Process): object {
  if (process === 'migrate' || process === 'job') return {};
  return {
    startupProbe: {
      ...{ ...ready, periodSeconds: START_PERIOD_SECONDS, timeoutSeconds: 5 },
      failureThreshold: START_SECONDS_MAX / START_PERIOD_SECONDS,
    },
    readinessProbe: {
      ...readyProbe(process),
      periodSeconds: 5,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
    livenessProbe: { ...live, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
  };
}

function readyProbe(process: Process): object {
  // Without a database, delivery serves cached lookups for five minutes.
  if (process === 'delivery') return { tcpSocket: { port: 'http' } };
  if (process === 'api') return { httpGet: { path: WITHOUT_BUCKETS, port: 'metrics' } };
  return ready;
}

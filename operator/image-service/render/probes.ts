/**
 * When a pod has started, gets requests, and is started anew. No pod is taken out of its Service for the outage of what
 * it can do without: it would be the outage of the whole Service, as all pods ask the same servers.
 */
import type { Process } from '../installation.ts';

const START_PERIOD_SECONDS = 2;
/** A process waits by itself for a server that is away. It is started anew after so long, in case that it hangs. */
const START_SECONDS_MAX = 1800;

/** Without buckets it takes no uploads, and everything else goes on. Images of earlier versions exclude nothing. */
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
  // What delivery has looked up it serves on for five minutes without a database.
  if (process === 'delivery') return { tcpSocket: { port: 'http' } };
  if (process === 'api') return { httpGet: { path: WITHOUT_BUCKETS, port: 'metrics' } };
  return ready;
}

/**
 * The pod of a process: unprivileged by the restricted profile, without a token, with a read-only root file system, and
 * with a longer grace period than the process needs.
 */

import { defined } from '../../defined.ts';
import { printBytes } from '../../quantity.ts';
import type { Installation, Process } from '../installation.ts';
import {
  AUTHORITIES_FOLDER,
  environmentOf,
  PLANS_FOLDER,
  ports,
  SPOOL_FOLDER,
} from './environment.ts';
import { digest, MANAGED, selectorOf, toMap, unsetFields } from './object.ts';
import { probesOf } from './probes.ts';
import { resourcesOf } from './sizes.ts';
import { topologySpread } from './topology-spread.ts';

/** Seconds between the end of new connections from routers, and SIGTERM. */
const PRE_STOP_SECONDS = 15;
/**
 * A draining process takes up to 25 seconds, a worker 150, the API 70, delivery 335 with usage to
 * send.
 */
const DRAIN_SECONDS = 30;
const WORKER_DRAIN_SECONDS = 155;
const SERVER_DRAIN_SECONDS = { api: 75, delivery: 340 };
const USER = 65_532;

export type PodTemplate = {
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  spec: Record<string, unknown> & { containers: readonly object[] };
};

export function podTemplate(
  of: Installation,
  process: Process,
  args: readonly string[],
): PodTemplate {
  const { spec } = of;
  return {
    metadata: {
      labels: { ...toMap(spec.podLabels), ...selectorOf(of, process, MANAGED) },
      annotations: {
        ...toMap(spec.podAnnotations),
        'tintype.dev/secrets-digest': of.secrets_digest,
        ...(of.files_digest && { 'tintype.dev/files-digest': of.files_digest }),
        ...identityOf(of),
      },
    },
    spec: {
      ...defined(settingsOf(of, process)),
      containers: [container(of, process, args)],
      volumes: volumesOf(of, process).map(({ name, source }) => ({ name, ...source })),
    },
  };
}

/**
 * Clouds read the service account only when they admit a pod, so the pod carries a digest of its
 * annotations, in any order.
 */
function identityOf({ spec: { serviceAccountAnnotations = [] } }: Installation) {
  if (serviceAccountAnnotations.length === 0) return {};
  const sorted = Object.entries(toMap(serviceAccountAnnotations)).toSorted();
  return { 'tintype.dev/service-account-digest': digest(sorted) };
}

function settingsOf(of: Installation, process: Process) {
  return {
    ...placement(of, process),
    serviceAccountName: `${of.name}-runtime`,
    automountServiceAccountToken: false,
    // Services of this name would otherwise set TINTYPE_API_PORT and similar variables.
    enableServiceLinks: false,
    imagePullSecrets: of.spec.imagePullSecretRefs,
    securityContext: podSecurity,
    terminationGracePeriodSeconds: graceOf(process),
  };
}

/**
 * Fields that our pods do not use, and through which others could add their own code or addresses.
 */
export function unsetForeignFields({ spec, ...template }: PodTemplate): PodTemplate {
  const none = unsetFields('initContainers', 'hostAliases', 'hostNetwork', 'hostPID', 'hostIPC');
  const containers = spec.containers.map((one) => ({
    ...one,
    ...unsetFields('command', 'envFrom'),
  }));
  return { ...template, spec: { ...spec, ...none, containers } };
}

function graceOf(process: Process): number {
  if (isServer(process)) return PRE_STOP_SECONDS + SERVER_DRAIN_SECONDS[process];
  return process.startsWith('worker-') ? WORKER_DRAIN_SECONDS : DRAIN_SECONDS;
}

const podSecurity = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  fsGroup: USER,
  seccompProfile: { type: 'RuntimeDefault' },
};

const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** The processes that accept connections. */
export function isServer(process: Process): process is 'api' | 'delivery' {
  return process === 'api' || process === 'delivery';
}

function container(of: Installation, process: Process, args: readonly string[]) {
  const { spec } = of;
  return {
    name: 'tintype',
    image: spec.image,
    imagePullPolicy: spec.imagePullPolicy ?? 'IfNotPresent',
    args,
    env: environmentOf(process, spec),
    ...(portsOf(process).length === 0 ? {} : { ports: portsOf(process) }),
    resources: resourcesOf(spec, process),
    securityContext: containerSecurity,
    // The pod's status then has the last log lines of a failed process.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...probesOf(process),
    ...(isServer(process)
      ? { lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } } }
      : {}),
    volumeMounts: volumesOf(of, process).map(({ name, mountPath, readOnly }) =>
      readOnly === undefined ? { name, mountPath } : { name, mountPath, readOnly },
    ),
  };
}

function portsOf(process: Process) {
  if (process === 'migrate' || process === 'job') return [];
  const metrics = { name: 'metrics', containerPort: ports.metrics, protocol: 'TCP' };
  if (!isServer(process)) return [metrics];
  return [{ name: 'http', containerPort: ports[process], protocol: 'TCP' }, metrics];
}

type Volume = { name: string; mountPath: string; readOnly?: true; source: object };

function volumesOf({ spec }: Installation, process: Process): Volume[] {
  const { caConfigMapRef, plansConfigMapRef, delivery } = spec;
  const volumes: Volume[] = [{ name: 'tmp', mountPath: '/tmp', source: scratch('1Gi') }];
  if (process === 'delivery') {
    const source = scratch(delivery?.spoolSize ?? '1Gi');
    volumes.push({ name: 'spool', mountPath: SPOOL_FOLDER, source });
  }
  if (caConfigMapRef !== undefined) {
    const source = { configMap: { name: caConfigMapRef.name, defaultMode: 0o444 } };
    volumes.push({ name: 'ca', mountPath: AUTHORITIES_FOLDER, readOnly: true, source });
  }
  if (plansConfigMapRef !== undefined && process === 'api') {
    const source = { configMap: { name: plansConfigMapRef.name, defaultMode: 0o444 } };
    volumes.push({ name: 'plans', mountPath: PLANS_FOLDER, readOnly: true, source });
  }
  return volumes;
}

function scratch(sizeLimit: string) {
  return { emptyDir: { sizeLimit: printBytes(sizeLimit) } };
}

function placement(of: Installation, process: Process) {
  const { nodeSelector, tolerations, affinity, priorityClassName } = of.spec;
  return {
    nodeSelector: nodeSelector && toMap(nodeSelector),
    // The API server drops an empty value, which would then differ at each apply.
    tolerations: tolerations?.map((each) => defined({ ...each, value: each.value || undefined })),
    affinity,
    priorityClassName,
    topologySpreadConstraints: topologySpread(of, process),
  };
}

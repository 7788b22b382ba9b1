/** KEDA's objects, where it sets the number of workers: by the number of waiting messages per pod. */
import { callQueue, doorbellQueue } from '../../../runtime/platform/queue/rabbitmq-names.ts';
import { type Installation, scalerOf } from '../installation.ts';
import { urlKey } from '../secrets.ts';
import { type RenderedObject, renderObject } from './object.ts';

export type Pool = {
  component: 'worker-ingest' | 'worker-render';
  /** All queues that the pods consume. */
  queues: readonly string[];
  min: number;
  max: number;
  /** Messages per pod. */
  queue_length: number;
  /** How long earlier load still counts before scaling down. */
  stable_seconds: number;
};

const STABLE_SECONDS = 300;

export function poolsOf({ spec }: Pick<Installation, 'spec'>): Pool[] {
  return [
    {
      component: 'worker-ingest',
      queues: [doorbellQueue('ingest').name],
      ...sizeOf(spec, 'ingest', 10),
    },
    {
      component: 'worker-render',
      queues: [callQueue('render', 1).name, doorbellQueue('render').name],
      ...sizeOf(spec, 'render', 4),
    },
  ];
}

function sizeOf(spec: Installation['spec'], pool: 'ingest' | 'render', queueLength: number) {
  const { min = 1, max, queueLengthPerReplica = queueLength } = spec.workers?.[pool] ?? {};
  return {
    ...{ min, max: max ?? Math.max(4, min), queue_length: queueLengthPerReplica },
    stable_seconds: spec.autoscaling?.stabilizationSeconds ?? STABLE_SECONDS,
  };
}

export function renderAutoscaling(of: Installation): RenderedObject[] {
  if (scalerOf(of) !== 'keda') return [];
  return [renderAuthentication(of), ...poolsOf(of).map((pool) => renderScaledObject(of, pool))];
}

const KEDA = 'keda.sh/v1alpha1';
const AUTHENTICATION = 'amqp';

function renderAuthentication(of: Installation): RenderedObject {
  const { name, managementKey, ...reference } = of.spec.amqpSecretRef;
  const key = managementKey ?? urlKey(reference);
  return renderObject(
    of,
    { apiVersion: KEDA, kind: 'TriggerAuthentication', suffix: AUTHENTICATION },
    { spec: { secretTargetRef: [{ parameter: 'host', name, key }] } },
  );
}

function renderScaledObject(of: Installation, pool: Pool): RenderedObject {
  const { component, min, max, stable_seconds } = pool;
  return renderObject(
    of,
    { apiVersion: KEDA, kind: 'ScaledObject', suffix: component, component },
    {
      spec: {
        scaleTargetRef: { name: `${of.name}-${component}` },
        minReplicaCount: min,
        maxReplicaCount: max,
        pollingInterval: 10,
        cooldownPeriod: stable_seconds,
        // A queue that KEDA cannot query is no reason to remove workers.
        fallback: {
          failureThreshold: 3,
          replicas: Math.max(min, 1),
          behavior: 'currentReplicasIfHigher',
        },
        advanced: {
          restoreToOriginalReplicaCount: false,
          horizontalPodAutoscalerConfig: {
            behavior: { scaleDown: { stabilizationWindowSeconds: stable_seconds } },
          },
        },
        triggers: pool.queues.map((queue) => triggerOf(of, pool, queue)),
      },
    },
  );
}

/** With several queues, the one that asks for the most pods counts. */
function triggerOf(of: Installation, { queue_length }: Pool, queueName: string) {
  return {
    type: 'rabbitmq',
    metadata: {
      protocol: of.spec.amqpSecretRef.managementKey === undefined ? 'amqp' : 'http',
      queueName,
      mode: 'QueueLength',
      value: String(queue_length),
      activationValue: '0',
      // Over amqp the broker counts only waiting messages; over http also those being processed.
      excludeUnacknowledged: 'false',
    },
    authenticationRef: { name: `${of.name}-${AUTHENTICATION}` },
  };
}

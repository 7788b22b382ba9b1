/** What KEDA is told, where it sets the number of workers: by how many messages wait for each pod. */
import { callQueue, doorbellQueue } from '../../../runtime/platform/queue/rabbitmq-names.ts';
import { type Installation, scalerOf } from '../installation.ts';
import { urlKey } from '../secrets.ts';
import { type RenderedObject, renderObject } from './object.ts';

export type Pool = {
  component: 'worker-ingest' | 'worker-render';
  queue: string;
  min: number;
  max: number;
  /** Messages for each pod. */
  queue_length: number;
};

export function poolsOf({ spec }: Pick<Installation, 'spec'>): Pool[] {
  return [
    {
      component: 'worker-ingest',
      queue: doorbellQueue('ingest').name,
      ...sizeOf(spec, 'ingest', 10),
    },
    {
      component: 'worker-render',
      queue: callQueue('render', 1).name,
      ...sizeOf(spec, 'render', 4),
    },
  ];
}

function sizeOf(spec: Installation['spec'], pool: 'ingest' | 'render', queueLength: number) {
  const { min = 1, max, queueLengthPerReplica = queueLength } = spec.workers?.[pool] ?? {};
  return { min, max: max ?? Math.max(4, min), queue_length: queueLengthPerReplica };
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
  const { component, min, max } = pool;
  const protocol = of.spec.amqpSecretRef.managementKey === undefined ? 'amqp' : 'http';
  return renderObject(
    of,
    { apiVersion: KEDA, kind: 'ScaledObject', suffix: component, component },
    {
      spec: {
        scaleTargetRef: { name: `${of.name}-${component}` },
        minReplicaCount: min,
        maxReplicaCount: max,
        pollingInterval: 10,
        cooldownPeriod: 300,
        // What cannot be asked is no reason to take workers away.
        fallback: {
          failureThreshold: 3,
          replicas: Math.max(min, 1),
          behavior: 'currentReplicasIfHigher',
        },
        advanced: {
          restoreToOriginalReplicaCount: false,
          horizontalPodAutoscalerConfig: {
            behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
          },
        },
        triggers: [
          {
            type: 'rabbitmq',
            metadata: {
              protocol,
              queueName: pool.queue,
              mode: 'QueueLength',
              value: String(pool.queue_length),
              activationValue: '0',
              // Over amqp the broker counts what waits alone; over http what is being worked on as well.
              excludeUnacknowledged: 'false',
            },
            authenticationRef: { name: `${of.name}-${AUTHENTICATION}` },
          },
        ],
      },
    },
  );
}

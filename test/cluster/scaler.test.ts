import { randomBytes } from 'node:crypto';
import { connect } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { createBrokerDepths } from '../../operator/scaler/broker-depths.ts';
import type { Recommendation } from '../../operator/scaler/decide-scale.ts';
import { scalePool } from '../../operator/scaler/scale-pool.ts';
import { createScaler } from '../../operator/scaler/scaler.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { doorbellQueue } from '../../runtime/platform/queue/rabbitmq-names.ts';
import { installation, least } from '../operator/image-service/samples.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import { useDatabase } from '../support/database.ts';
import { type Json, useInstallationCluster } from '../support/installation-cluster.ts';
import { type Broker, takeVirtualHost } from '../support/shared-broker.ts';
import { until } from '../support/until.ts';

const cluster = useInstallationCluster(useDatabase().db);
const broker = createBrokerDepths(log);
const doorbells = doorbellQueue('ingest');
const name = `s${randomBytes(4).toString('hex')}`;
const deployment = `${name}-worker-ingest`;
const labels = {
  'app.kubernetes.io/name': 'tintype',
  'app.kubernetes.io/managed-by': 'tintype-operator',
  'app.kubernetes.io/instance': name,
  'app.kubernetes.io/component': 'worker-ingest',
};

let rabbit: Broker;
beforeAll(async () => {
  rabbit = await takeVirtualHost();
}, 300_000);
afterAll(() => broker.close('it'));

/** The number of work items that each pod reports. */
const inHand = new Map<string, number>();
let recommendations: readonly Recommendation[] = [];

async function look(): Promise<void> {
  const { client } = connectKube(cluster.plane());
  const queues = [doorbells.name];
  const sizes = { min: 1, max: 3, queue_length: 2, queues, stable_seconds: 0 };
  const pool = { component: 'worker-ingest' as const, ...sizes };
  const place = { name, namespace: cluster.namespace(), pool };
  const seen = {
    depths: await broker.read('it', rabbit.url),
    recommendations,
    now_ms: clock.elapsed(),
  };
  const scrape = async (pod: Json) => inHand.get(pod.metadata.name) ?? 0;
  recommendations = (await scalePool(place, seen, { client, scrape, log }))?.recommendations ?? [];
  client.close();
}

async function fill(messages: number): Promise<void> {
  const connection = await connect(rabbit.url);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(doorbells.name, doorbells.options);
  await channel.purgeQueue(doorbells.name);
  for (let each = 0; each < messages; each += 1) {
    channel.sendToQueue(doorbells.name, Buffer.from('{}'), { persistent: true });
  }
  await channel.waitForConfirms();
  await connection.close();
}

const running = async (): Promise<Json[]> =>
  (await cluster.list('Pod')).filter(
    ({ metadata, status }) =>
      status.phase === 'Running' && metadata.deletionTimestamp === undefined,
  );

describe('the scaler', { shuffle: false }, () => {
  describe('a pool of workers, on a real broker and real controllers', () => {
    it('grows with its queue, and shrinks by idle pods while the busy one stays', async () => {
      const containers = [{ name: 'tintype', image: 'tintype:1' }];
      await cluster.create('Deployment', {
        apiVersion: 'apps/v1',
        metadata: { name: deployment, labels },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } },
        },
      });
      await until(async () => expect(await running()).toHaveLength(1));
      await fill(20);
      await until(async () => {
        await look();
        expect(await running()).toHaveLength(3);
      });
      expect((await cluster.read('Deployment', deployment)).spec.replicas).toBe(3);

      const busy = (await running()).at(-1).metadata.name;
      inHand.set(busy, 1);
      await fill(0);
      await until(async () => {
        await look();
        expect((await running()).map(({ metadata }) => metadata.name)).toEqual([busy]);
      });
      const [pod] = await running();
      expect(pod.metadata.annotations['controller.kubernetes.io/pod-deletion-cost']).toBe('1');
      const { metadata } = await cluster.read('Deployment', deployment);
      expect(metadata.managedFields.map(({ subresource }: Json) => subresource)).toContain('scale');
    });

    it('does not shrink below its busy pods, however little waits', async () => {
      const busy = (await running())[0].metadata.name;
      await fill(20);
      await until(async () => {
        await look();
        expect(await running()).toHaveLength(3);
      });
      for (const { metadata } of await running()) inHand.set(metadata.name, 1);
      await fill(0);
      for (let turn = 0; turn < 5; turn += 1) await look();
      expect((await cluster.read('Deployment', deployment)).spec.replicas).toBe(3);
      expect((await running()).map(({ metadata }) => metadata.name)).toContain(busy);
    });
  });

  describe('the metrics of an installation', () => {
    it('show its workers until somebody else scales them, and the log reports each outage once', async () => {
      const secret = `${name}-mq`;
      const stringData = { url: rabbit.url };
      const { client, metrics } = connectKube(cluster.plane());
      const said: string[] = [];
      let looks = 0;
      const after: typeof clock.after = (ms, run) => {
        looks += 1;
        return clock.after(ms, run);
      };
      const scaler = createScaler({
        client,
        clock: { ...clock, after },
        log: createLog({
          level: 'warn',
          name: 'test',
          destination: { write: (line) => said.push(line) },
        }),
        metrics,
        scrape: async () => 0,
        every_ms: 50,
      });
      const over = new AbortController();
      const led = scaler.lead({
        epoch: 1,
        lease_uid: 'lease',
        signal: over.signal,
        isCurrent: () => true,
      });
      const sees = (mode: 'BuiltIn' | 'KEDA' | 'Disabled') => {
        const spec = { ...least, amqpSecretRef: { name: secret }, autoscaling: { mode } };
        const of = installation(spec, { name, namespace: cluster.namespace(), keda: 'present' });
        scaler.take('it', { gathered: { installation: of } });
      };
      const shows = (...names: string[]) =>
        until(async () => {
          const samples = (await metrics.print()).matchAll(
            /^tintype_scaler_(workers|last_look)\w*{/gm,
          );
          expect([...new Set([...samples].map(([, sample]) => sample))]).toEqual(names);
        });
      sees('BuiltIn');
      // Before the first successful look, the metric shows the start time.
      await shows('last_look');
      // The cause is logged once per minute while it lasts, not at every look.
      await until(async () => expect(looks).toBeGreaterThan(3));
      expect(said).toHaveLength(1);
      expect(said[0]).toContain(`Secret '${secret}' lacks the address`);
      await cluster.create('Secret', { apiVersion: 'v1', metadata: { name: secret }, stringData });
      await shows('workers', 'last_look');
      await cluster.remove('Secret', secret);
      // Another outage is logged again.
      await until(async () => expect(said).toHaveLength(2));
      await cluster.create('Secret', { apiVersion: 'v1', metadata: { name: secret }, stringData });
      // Scaling goes on when the spec cannot be read.
      scaler.take('it', { gathered: 'as before' });
      metrics.forgetPools('it', ['worker-ingest', 'worker-render']);
      await shows('workers', 'last_look');
      sees('KEDA');
      await shows('last_look');
      sees('Disabled');
      await shows();
      over.abort();
      await led;
      client.close();
    });
  });
});

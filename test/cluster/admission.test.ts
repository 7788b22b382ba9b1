// A cluster whose policy changes our objects on admission, as policies that pin registries or image pull policies do.
import { expect, it } from 'vitest';
import { systemTimedClock } from '../../operator/kube/timed-clock.ts';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  expectNoWrites,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { mutateOnWayIn } from '../support/mutating-policy.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
let ahead_ms = 0;
const clock = {
  ...systemTimedClock,
  elapsed: () => systemTimedClock.elapsed() + ahead_ms,
};
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing), clock });
const { create, read, merge, led, untilReason, list, message } = cluster;

/** The `ChangedOnWayIn` Events whose note names this object. */
async function changesOf(name: string): Promise<unknown[]> {
  const events = (await list('Event')).filter(({ reason }) => reason === 'ChangedOnWayIn');
  return events
    .filter(({ note }) => note.includes(` ${name} `))
    .map(({ type, note, regarding }) => ({ type, note, of: regarding.kind }));
}

it('an installation whose objects are changed on admission runs, and is not written again and again', async () => {
  await createSecrets(cluster, { url: url(), sealing });
  const takeBack = await mutateOnWayIn(cluster.plane(), {
    ...{ namespace: cluster.namespace(), group: 'apps', resources: 'deployments' },
    ...{ path: '/spec/template/spec/containers/0/imagePullPolicy', value: 'Always' },
  });
  const deployment = { metadata: { name: 'probe' }, apiVersion: 'apps/v1' };
  const containers = [{ name: 'main', image: 'a/b:1', imagePullPolicy: 'Never' }];
  const labels = { app: 'probe' };
  const template = { metadata: { labels }, spec: { containers } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  await create('Deployment', { ...deployment, spec });
  const policyOf = async (name: string) =>
    (await read('Deployment', name)).spec.template.spec.containers[0].imagePullPolicy;
  await until(async () => {
    await merge('Deployment', 'probe', { spec: { paused: true } });
    expect(await policyOf('probe')).toBe('Always');
  });
  await create('ImageService', anInstallation('main'));
  await led(async () => {
    await untilReason('main', 'Running');
    expect(await policyOf('main-api')).toBe('Always');
    await expectNoWrites(cluster);
    const path = 'spec.template.spec.containers[0].imagePullPolicy';
    const reported = [
      {
        ...{ type: 'Normal', of: 'ImageService' },
        note: `a policy or webhook of the cluster changes ${path} of Deployment main-api on admission; the operator leaves that unchanged, and tries again within the hour`,
      },
    ];
    expect(await changesOf('main-api')).toEqual(reported);
    await untilReason('main', 'ChangedOnWayIn', 'Applied');
    expect(await message('main', 'Applied')).toContain(`Deployment main-api (${path})`);
    await merge('Deployment', 'main-api', { spec: { replicas: 7 } });
    await until(async () => expect((await read('Deployment', 'main-api')).spec.replicas).toBe(2));
    await untilReason('main', 'Running');
    await expectNoWrites(cluster);
    // An hour later, the write is tried again. If it changes nothing, it does not count as healing.
    const { metadata: before } = await read('Deployment', 'main-delivery');
    const healed = async () =>
      (await list('Event')).filter(({ reason }) => reason === 'DriftHealed').length;
    const healedBefore = await healed();
    const writes = await cluster.countWrites();
    ahead_ms += 60 * 60_000;
    await until(async () => expect(await cluster.countWrites()).toBeGreaterThan(writes));
    await expectNoWrites(cluster);
    const { metadata: after } = await read('Deployment', 'main-delivery');
    expect(after.generation).toBe(before.generation);
    expect(await healed()).toBe(healedBefore);
    await takeBack();
    // A deleted policy stays in effect for a moment.
    await until(async () => {
      ahead_ms += 60 * 60_000;
      expect(await policyOf('main-api')).toBe('IfNotPresent');
    });
    await untilReason('main', 'AsRendered', 'Applied');
    await untilReason('main', 'Running');
  });
}, 180_000);

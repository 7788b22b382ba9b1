import { expect, it } from 'vitest';
import { createLeaderClient } from '../../../operator/kube/leader-client.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { configMaps } from './config-map.ts';
import { connectKube } from './connect.ts';

const cluster = useControlPlane();

it('the client of a leader still reads, but refuses every write once another may lead', async () => {
  const namespace = await cluster.namespace();
  const { client } = connectKube(cluster.plane());
  let mayWrite = true;
  const led = createLeaderClient(client, () => mayWrite);
  const place = { namespace, name: 'one' };
  const object = { metadata: place, data: { is: 'first' } };
  expect(await led.create(configMaps, object)).toMatchObject({ ok: true });
  mayWrite = false;
  const later = { metadata: place, data: { is: 'second' } };
  const as = { owner: 'test' };
  const writes: Record<string, () => Promise<unknown>> = {
    create: () => led.create(configMaps, { ...object, metadata: { namespace, name: 'two' } }),
    apply: () => led.apply(configMaps, later, as),
    applyStatus: () => led.applyStatus(configMaps, later, as),
    replace: () => led.replace(configMaps, later),
    merge: () => led.merge(configMaps, place, { body: { data: { is: 'second' } } }),
    delete: () => led.delete(configMaps, place),
    within: () => led.within(5_000).delete(configMaps, place),
  };
  for (const write of Object.values(writes)) {
    await expect(write()).rejects.toThrow('nothing was written: another may lead by now');
  }
  expect(await led.get(configMaps, place)).toMatchObject({
    ok: true,
    value: { data: { is: 'first' } },
  });
  expect(await led.get(configMaps, { namespace, name: 'two' })).toMatchObject({ ok: false });
  client.close();
});

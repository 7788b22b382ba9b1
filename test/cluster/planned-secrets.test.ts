/** The plan of a Project lists the changes to its callback Secrets, and none is written. Spec: Project. */
import { afterEach, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { kubeOk } from '../support/kube-request.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, condition, led, plane, read, remove, untilGone, untilReason } = cluster;

const plan = { annotations: { 'tintype.dev/plan-only': 'true' } };
const secrets = () => `/api/v1/namespaces/${cluster.namespace()}/secrets`;

const callback = (secretName: string, more: object = {}) => {
  return { callback: { url: 'https://shop.example/hook', secretName, ...more } };
};

type Secret = { metadata: { name: string; resourceVersion: string }; data: Record<string, string> };

async function allSecrets(): Promise<Secret[]> {
  const { items } = (await kubeOk(plane(), { path: secrets() })) as unknown as { items: Secret[] };
  return items;
}

/** Waits until the lines about Secrets in the newest plan are `wanted`. */
async function untilPlanned(name: string, wanted: readonly string[]): Promise<void> {
  await until(async () => {
    const message = (await condition('Project', name, 'Planned'))?.message ?? 'not told';
    const reported = message.split('\n').filter((line) => /^. Secret|not told/.test(line));
    expect(reported).toEqual(wanted);
  });
}

/** No status reveals a key. */
afterEach(async () => {
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${cluster.namespace()}/projects`;
  const reported = JSON.stringify(await kubeOk(plane(), { path }));
  expect(reported).not.toContain('whsec_');
  for (const { data } of await allSecrets()) {
    for (const value of Object.values(data)) expect(reported).not.toContain(value);
  }
});

it('a plan names the Secret that would be created, rotated or deleted, and changes none', async () => {
  const name = newSlug();
  const [first, second] = [`${name}-1`, `${name}-2`];
  const line = (sign: string, secret: string) => `${sign} Secret ${cluster.namespace()}/${secret}`;
  await led(async () => {
    await apply('Project', name, callback(first), plan);
    await untilPlanned(name, [line('+', first)]);
    await apply('Project', name, callback(first));
    await untilReason('Project', name, 'InSync');
    const before = await allSecrets();
    await apply('Project', name, callback(first), plan);
    await untilReason('Project', name, 'InSync');
    await untilPlanned(name, []);
    await apply('Project', name, callback(first, { rotationTrigger: '2' }), plan);
    await untilPlanned(name, [line('~', first)]);
    await apply('Project', name, callback(second), plan);
    await untilPlanned(name, [line('+', second), line('-', first)]);
    await apply('Project', name, { callback: { url: '' } }, plan);
    await untilPlanned(name, [line('-', first)]);
    await apply('Project', name, {}, plan);
    await untilPlanned(name, []);
    await remove('Project', name);
    await untilPlanned(name, [line('-', first)]);
    expect(await allSecrets()).toEqual(before);
    await apply('Project', name, {});
    await untilGone('Project', name);
  });
});

it('a plan shows that a Secret which somebody edited would be corrected', async () => {
  const name = newSlug();
  await apply('Project', name, callback(name));
  await led(async () => {
    await untilReason('Project', name, 'InSync');
    await apply('Project', name, callback(name), plan);
    await untilPlanned(name, []);
    await kubeOk(plane(), {
      ...{ method: 'PATCH', path: `${secrets()}/${name}` },
      ...{ content_type: 'application/merge-patch+json', body: { data: { secret: 'eA==' } } },
    });
    await untilPlanned(name, [`~ Secret ${cluster.namespace()}/${name}`]);
    expect(await condition('Project', name)).toMatchObject({ reason: 'PlanOnly' });
  });
});

it('a plan reports that a Secret is taken, by whom, and what would be written all the same', async () => {
  const [name, other] = [newSlug(), newSlug()];
  const taken = { metadata: { name: `${name}-taken` }, data: { own: 'bXkgb3duIHZhbHVl' } };
  await kubeOk(plane(), { method: 'POST', path: secrets(), body: taken });
  await apply('Project', other, callback(other));
  await led(async () => {
    await untilReason('Project', other, 'InSync');
    const before = await allSecrets();
    await apply('Project', name, callback(taken.metadata.name), plan);
    await untilReason('Project', name, 'SecretTaken');
    expect((await condition('Project', name))?.message).toContain(
      'exists and does not belong to this',
    );
    expect((await condition('Project', name, 'Planned'))?.message).toMatch(/^\+ projects /);
    await untilPlanned(name, []);
    await apply('Project', name, callback(other), plan);
    await until(async () =>
      expect((await condition('Project', name))?.message).toContain(
        `belongs to the Project '${other}'`,
      ),
    );
    expect((await read('Project', name)).metadata.finalizers).toBeUndefined();
    expect(await allSecrets()).toEqual(before);
    await apply('Project', name, callback(name));
    await untilReason('Project', name, 'InSync');
  });
});

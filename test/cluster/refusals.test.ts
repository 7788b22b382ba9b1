// What others refuse to write for a resource is said in it: the API server a Secret, the database a row. And what the
// operator was not told, the ImageService says.
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { kubeForbid } from '../support/kube-quota.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
let root: string | undefined;
const cluster = useTenantCluster({
  db,
  context: { findRootDomain: () => root },
});
const { apply, condition, led, plane, read, untilReason } = cluster;

describe('what is refused', { timeout: 180_000 }, () => {
  it('by a quota of the cluster is said, of a resource that is new and of one that was ready', async () => {
    const [fresh, ready] = [newSlug(), newSlug()];
    await apply('Project', ready, {});
    await led(async () => {
      await untilReason('Project', ready, 'InSync');
      const allow = await kubeForbid(plane(), cluster.namespace(), 'count/secrets');
      for (const name of [fresh, ready]) {
        const callback = { url: 'https://shop.example/hook', secretName: name };
        await apply('Project', name, { callback });
      }
      for (const name of [fresh, ready]) {
        await untilReason('Project', name, 'WriteRefused');
        const { message } = (await condition('Project', name)) ?? {};
        expect(message).toMatch(/^the API server refuses it: secrets .* exceeded quota: none/);
        expect(await condition('Project', name, 'Stalled')).toMatchObject({ status: 'True' });
      }
      await allow();
      for (const name of [fresh, ready]) await untilReason('Project', name, 'InSync');
    });
  });

  it('by a rule of the database is said', async () => {
    const project = newSlug();
    const rule = `check (name <> '${project}')`;
    await db.query(`alter table recipes add constraint recipes_not_so ${rule}`);
    await apply('Project', project, {});
    await apply('Recipe', project, { projectRef: { name: project }, transformChain: 'resize/9x9' });
    await led(() => untilReason('Recipe', project, 'WriteRefused'));
    const { message } = (await condition('Recipe', project)) ?? {};
    expect(message).toMatch(/^the database refuses it: .*recipes_not_so/);
  });
});

it('the delivery root domain is that of the ImageService, where the operator was told none', async () => {
  const [name, other] = [newSlug(), newSlug()];
  await apply('Project', name, {});
  await led(async () => {
    await untilReason('Project', name, 'InSync');
    expect((await read('Project', name)).status['defaultHost']).toBeUndefined();
    root = 'img.example.com';
    await apply('Project', other, { staff: { customDomains: [`${name}.${root}`] } });
    await untilReason('Project', other, 'CustomDomainInvalid');
    await apply('Project', name, { displayName: 'Shop' });
    await until(async () =>
      expect((await read('Project', name)).status['defaultHost']).toBe(`${name}.${root}`),
    );
  });
});

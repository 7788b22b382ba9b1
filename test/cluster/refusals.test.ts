// A resource reports writes that are refused for it: of a Secret by the API server, of a row by the database. The
// operator takes settings that it was not given from the ImageService.
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

describe('a write that is refused', { timeout: 180_000 }, () => {
  it('by a quota of the cluster is reported for a new resource and for one that was ready', async () => {
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

  it('by a constraint of the database is reported', async () => {
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

it('the delivery root domain is that of the ImageService if the operator was given none', async () => {
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

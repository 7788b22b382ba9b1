// Two operators that watch different namespaces share a database and a delivery namespace.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { least } from '../operator/image-service/samples.ts';
import { type CrashingOperator, createCrashingOperator } from '../support/crashing-operator.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { lookAtRoutes } from '../support/route-looks.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { lookAtTenants } from '../support/tenant-looks.ts';
import { declareAt, pathOf } from '../support/tenant-places.ts';

const { db } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);

it('two operators on one database leave the routes of each other alone', async () => {
  const images = await cluster.namespace();
  await kubeApply(plane(), `/apis/tintype.dev/v1alpha1/namespaces/${images}/imageservices/main`, {
    ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService', metadata: { name: 'main' } },
    spec: { ...least, routing: { mode: 'Ingress' } },
  });
  const operatorOf = async (name: string): Promise<CrashingOperator> => {
    const teams = await cluster.namespace();
    const shop = { namespace: teams, name: `${name}${randomBytes(4).toString('hex')}` };
    const spec = {
      routing: { perProject: 'Always' },
      staff: { customDomains: [`${name}.example`] },
    };
    await declareAt(plane(), shop, { Project: spec });
    const resources = [{ kind: 'Project' as const, path: pathOf('Project', shop) }];
    return createCrashingOperator({
      ...{ plane: plane(), db },
      start: (through) => {
        const looks = [
          lookAtTenants({ plane: plane(), sealing, resources }, through),
          lookAtRoutes({ teams, images }, through),
        ];
        return async () => {
          for (const look of looks) await look();
        };
      },
    });
  };
  const one = await operatorOf('one');
  const two = await operatorOf('two');
  expect(await one.run()).toContain('apply Ingress');
  expect(await two.run()).toContain('apply Ingress');
  expect(await one.run()).toEqual([]);
  expect(await two.run()).toEqual([]);
  const path = `/apis/networking.k8s.io/v1/namespaces/${images}/ingresses`;
  const { items } = (await kubeOk(plane(), { path })) as {
    items: { spec: { rules: { host: string }[] } }[];
  };
  const hosts = items.flatMap(({ spec }) => spec.rules.map(({ host }) => host));
  expect(hosts).toContain('one.example');
  expect(hosts).toContain('two.example');
});

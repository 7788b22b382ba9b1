import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { permissions } from '../../operator/permissions.ts';
import { type ControlPlane, createNamespace, startControlPlane } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { permitOperator, startOperator } from '../support/operator-process.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { newSlug } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
// A separate control plane, because deleting a definition would affect other tests.
let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane({ components: [] });
}, 300_000);
afterAll(() => plane.stop());

const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/recipes.tintype.dev';

async function names(table: 'recipes' | 'projects'): Promise<string[]> {
  const rows = await db.query<{ name: string }>(`select name from ${table} order by name`);
  return rows.map(({ name }) => name);
}

it('an operator whose CRD is deleted removes its rows, serves other kinds, and resumes when it is back', async () => {
  const namespace = await createNamespace(plane);
  const { tenant, own, delivery } = permissions;
  await permitOperator(plane, namespace, [...tenant, ...own, ...delivery]);
  const slug = newSlug();
  const declare = (plural: 'projects' | 'recipes', name: string, spec: object) =>
    kubeApply(plane, `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}`, {
      ...{ apiVersion: 'tintype.dev/v1alpha1', metadata: { name, namespace }, spec },
      kind: plural === 'projects' ? 'Project' : 'Recipe',
    });
  const recipe = (name: string) =>
    declare('recipes', name, { projectRef: { name: slug }, transformChain: 'resize/10x10' });
  const operator = await startOperator(plane, {
    ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: namespace },
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey(),
  });
  try {
    await declare('projects', slug, { displayName: 'One' });
    await recipe('before');
    await until(async () => expect(await names('recipes')).toEqual(['before']));

    await kubeOk(plane, { method: 'DELETE', path: CRD });
    await until(async () => expect((await kubeRequest(plane, { path: CRD })).status).toBe(404));
    await until(async () => expect(await names('recipes')).toEqual([]));
    await declare('projects', slug, { displayName: 'Two' });
    await until(async () => expect(await names('projects')).toEqual(['Two']));

    const file = new URL('../../crds/tintype.dev_recipes.yaml', import.meta.url);
    await kubeApply(plane, CRD, parse(await readFile(file, 'utf8')));
    await until(() => recipe('after'));
    await until(async () => expect(await names('recipes')).toEqual(['after']));
    expect((await fetch(`${operator.watched}/livez`)).status).toBe(200);
  } finally {
    await operator.stop();
  }
}, 300_000);

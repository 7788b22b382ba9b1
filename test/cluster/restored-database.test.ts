// A database is restored from a dump while the operator has nothing to write. Spec: Project.
import { expect, it, onTestFinished } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply } from '../support/kube-request.ts';
import { permitOperator, startOperator } from '../support/operator-process.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { newSlug } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const cluster = useControlPlane();

async function nameOf(slug: string): Promise<string | undefined> {
  return (await findProjectBySlug(db, slug))?.name;
}

/** As a dump from before this term: without the term, and with an earlier name. */
async function restore(slug: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query('delete from operator_terms');
    await tx.query(`update projects set name = 'Before' where project_slug = $1`, [slug]);
  });
}

it('a restored database is noticed immediately, and its rows are compared again', async () => {
  const namespace = await cluster.namespace();
  const { tenant, own, delivery } = permissions;
  await permitOperator(cluster.plane(), namespace, [...tenant, ...own, ...delivery]);
  const operator = await startOperator(cluster.plane(), {
    ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: namespace },
    ...{ TINTYPE_DATABASE_URL: url(), TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey() },
  });
  onTestFinished(operator.stop);
  const slug = newSlug();
  await kubeApply(
    cluster.plane(),
    `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects/${slug}`,
    {
      ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'Project', metadata: { name: slug } },
      spec: { displayName: 'Shop' },
    },
  );
  await until(async () => expect(await nameOf(slug)).toBe('Shop'));
  await restore(slug);
  expect(await nameOf(slug)).toBe('Before');
  await until(async () => expect(await nameOf(slug)).toBe('Shop'));
  const errors = operator.said.filter(({ level }) => level === 'error').map(({ msg }) => msg);
  expect(errors).toEqual(['the database is not the one that this term began in']);
});

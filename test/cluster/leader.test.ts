import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply } from '../support/kube-request.ts';
import { permitOperator, startOperator } from '../support/operator-process.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { newSlug, until } from '../support/tenant-cluster.ts';

const { db, url } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;

it('of two operators one writes: the other when it is frozen, and that one not when it wakes up', async () => {
  const namespace = await cluster.namespace();
  await permitOperator(plane(), namespace, [
    ...permissions.tenant,
    ...permissions.own,
    ...permissions.delivery,
  ]);
  const settings = {
    ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: namespace },
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_KEY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  };
  const name = newSlug();
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects/${name}`;
  const change = (displayName: string) =>
    kubeApply(plane(), path, {
      ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'Project', spec: { displayName } },
      metadata: { name, namespace },
    });
  const untilNamed = (displayName: string) =>
    until(async () => {
      const rows = await db.query('select name from projects where project_slug = $1', [name]);
      expect(rows).toEqual([{ name: displayName }]);
    });
  const holder = async () =>
    (await db.query<{ epoch: number; holder: string }>('select * from operator_terms'))[0];
  const first = await startOperator(plane(), settings);
  const second = await startOperator(plane(), settings).catch(async (error: unknown) => {
    await first.stop();
    throw error;
  });
  try {
    await change('One');
    await untilNamed('One');
    const term = await holder();
    // Both are of this machine: only one of them leads, and which is no matter.
    const leader = (await leads(first.watched)) ? first : second;
    const standby = leader === first ? second : first;
    leader.child.kill('SIGSTOP');
    await change('Two');
    await untilNamed('Two');
    expect((await holder())?.epoch).toBeGreaterThan(term?.epoch ?? 0);
    leader.child.kill('SIGCONT');
    await change('Three');
    await untilNamed('Three');
    await until(async () => expect(await leads(leader.watched)).toBe(false));
    const written = await db.query(
      `select after from audit_log where target = $1 and after->'changes' ? 'update'`,
      [`${namespace}/${name}`],
    );
    expect(written).toHaveLength(2);
    standby.child.kill('SIGTERM');
    await once(standby.child, 'exit');
    await change('Four');
    await untilNamed('Four');
    expect(await leads(leader.watched)).toBe(true);
  } finally {
    await first.stop();
    await second.stop();
  }
}, 300_000);

async function leads(watched: string): Promise<boolean> {
  const printed = await (await fetch(`${watched}/metrics`)).text();
  return /^leader_election_master_status\{.*\} 1$/m.test(printed);
}

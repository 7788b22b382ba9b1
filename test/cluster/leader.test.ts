import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import { startKubeFaultProxy } from '../support/kube-fault-proxy.ts';
import { kubeApply, kubeOk, type PlaneAddress } from '../support/kube-request.ts';
import {
  type OperatorProcess,
  permitOperator,
  startOperator,
} from '../support/operator-process.ts';
import { must } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { newSlug, until } from '../support/tenant-cluster.ts';

const { db, url } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;

/** Operators of one installation, and a project whose changes tell that one of them works. */
async function openInstallation() {
  const namespace = await cluster.namespace();
  const { tenant, own, delivery } = permissions;
  await permitOperator(plane(), namespace, [...tenant, ...own, ...delivery]);
  const settings = {
    ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: namespace },
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_KEY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  };
  const name = newSlug();
  const started: OperatorProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(started.map((each) => each.stop()));
  });
  const path = (plural: string) =>
    `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}`;
  const apply = (kind: string, plural: string, spec: object) => {
    const head = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name, namespace } };
    return kubeApply(plane(), path(plural), { ...head, spec });
  };
  return {
    ...{ namespace, name, apply },
    start: async (more: Record<string, string> = {}, through: PlaneAddress = plane()) => {
      const operator = await startOperator(through, { ...settings, ...more });
      started.push(operator);
      return operator;
    },
    change: (displayName: string) => apply('Project', 'projects', { displayName }),
    untilNamed: (displayName: string) =>
      until(async () => {
        const rows = await db.query('select name from projects where project_slug = $1', [name]);
        expect(rows).toEqual([{ name: displayName }]);
      }),
    /** When the newest change of the project was written. */
    changedAt: async () => {
      const [row] = await db.query<{ at: Date }>(
        'select max(created_at) as at from audit_log where target = $1',
        [`${namespace}/${name}`],
      );
      return must(row).at.getTime();
    },
    lease: async () => {
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      const { items } = (await kubeOk(plane(), { path: leases })) as { items: Lease[] };
      return must(items[0]).spec;
    },
    term: async () => {
      const [row] = await db.query<Term>(
        'select * from operator_terms where starts_with(lease, $1)',
        [`${namespace}/`],
      );
      return must(row);
    },
  };
}

type Installation = Awaited<ReturnType<typeof openInstallation>>;
type Term = { epoch: number; holder: string; began_at: Date };
type Lease = {
  spec: {
    holderIdentity: string;
    acquireTime: string;
    renewTime: string;
    leaseTransitions: number;
  };
};

/** A leader, and another that stands by. */
async function startTwo(of: Installation, through?: PlaneAddress) {
  const leader = await of.start({}, through);
  await of.change('One');
  await of.untilNamed('One');
  const standby = await of.start();
  expect([await leads(leader), await leads(standby)]).toEqual([true, false]);
  return { leader, standby };
}

async function leads({ watched }: OperatorProcess): Promise<boolean> {
  const printed = await (await fetch(`${watched}/metrics`)).text();
  return /^leader_election_master_status\{.*\} 1$/m.test(printed);
}

/** By the clock that terms and trails are written with. */
async function now(): Promise<number> {
  const [row] = await db.query<{ now: Date }>('select now()');
  return must(row).now.getTime();
}

/** Beyond the seconds of the bench (`make bench ARGS=operator`): a machine that is busy elsewhere. */
const BUSY_MS = 7_000;

it('an operator that is killed is followed when its lease has run out, and no sooner than that promised', async () => {
  const of = await openInstallation();
  const { leader, standby } = await startTwo(of);
  const before = await of.term();
  const killed_at = await now();
  leader.child.kill('SIGKILL');
  await once(leader.child, 'exit');
  const last = await of.lease();
  await of.change('Two');
  await of.untilNamed('Two');
  const [term, lease] = [await of.term(), await of.lease()];
  expect([term.epoch, lease.leaseTransitions]).toEqual([before.epoch + 1, before.epoch + 1]);
  expect([lease.holderIdentity, await leads(standby)]).toEqual([term.holder, true]);
  expect(Date.parse(lease.acquireTime)).toBeGreaterThan(Date.parse(last.renewTime) + 15_000);
  expect(term.began_at.getTime()).toBeLessThanOrEqual(killed_at + 20_000 + BUSY_MS);
  expect(await of.changedAt()).toBeLessThanOrEqual(killed_at + 20_000 + BUSY_MS);
}, 300_000);

it('an operator that stops is followed at once, long before its lease would have run out', async () => {
  const of = await openInstallation();
  const { leader, standby } = await startTwo(of);
  const before = await of.term();
  const asked_at = await now();
  leader.child.kill('SIGTERM');
  await of.change('Two');
  await of.untilNamed('Two');
  const term = await of.term();
  expect([term.epoch, await leads(standby)]).toEqual([before.epoch + 1, true]);
  expect(term.began_at.getTime()).toBeLessThanOrEqual(asked_at + 3_000 + BUSY_MS);
}, 300_000);

/** Longer than its lease. At 30 s the call that its pass waits for is given up: it would not come to its write. */
const FROZEN_MS = 25_000;

it('an operator that was frozen in the middle of a pass tries to write when it wakes up, and may not', async () => {
  const of = await openInstallation();
  const proxy = await startKubeFaultProxy(plane());
  onTestFinished(() => proxy.close());
  // Nothing has to listen there: what brings an image writes to the database first.
  const storage = {
    ...{ TINTYPE_S3_ENDPOINT: 'http://127.0.0.1:1', TINTYPE_S3_FORCE_PATH_STYLE: 'true' },
    ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
  };
  const frozen = await of.start(storage, proxy);
  await of.change('One');
  await of.untilNamed('One');
  const standby = await of.start();
  const before = await of.term();

  const release = proxy.hold('ConfigMap');
  await storeImage(of);
  await until(async () =>
    expect(proxy.requests.filter(({ path }) => path.includes('/configmaps/'))).toHaveLength(1),
  );
  frozen.child.kill('SIGSTOP');
  const thawed = sleep(FROZEN_MS);
  for (const displayName of ['Two', 'Three', 'Four']) {
    await of.change(displayName);
    await of.untilNamed(displayName);
  }
  expect((await of.term()).epoch).toBe(before.epoch + 1);
  await thawed;
  release();
  frozen.child.kill('SIGCONT');
  await of.change('Five');
  await until(async () => {
    expect(frozen.said).toContainEqual(
      expect.objectContaining({
        msg: 'another process leads: this one writes no more',
        error: expect.objectContaining({ name: 'Fenced' }),
      }),
    );
  });
  await of.untilNamed('Five');
  await until(async () => expect(await leads(frozen)).toBe(false));
  expect([await leads(standby), (await of.term()).epoch]).toEqual([true, before.epoch + 1]);
  // What it was about to write: nobody else has storage to bring an image to.
  expect(await db.query('select from uploads where file_slug = $1', [of.name])).toEqual([]);
  const changes = await db.query(
    `select from audit_log where target = $1 and after->'changes' ? 'update'`,
    [`${of.namespace}/${of.name}`],
  );
  expect(changes).toHaveLength(4);
  // It has not lost its mind: it is next.
  standby.child.kill('SIGTERM');
  await of.change('Six');
  await of.untilNamed('Six');
  expect(await leads(frozen)).toBe(true);
}, 300_000);

async function storeImage({ namespace, name, apply }: Installation): Promise<void> {
  const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const body = { metadata: { name }, binaryData: { 'logo.png': png } };
  await kubeOk(plane(), { method: 'POST', path, body });
  const image = { configMapRef: { name, key: 'logo.png' } };
  await apply('WatermarkPreset', 'watermarkpresets', { projectRef: { name }, image });
}

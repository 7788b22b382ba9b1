import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { untilWaiting } from '../support/lock-waits.ts';
import {
  type OperatorProcess,
  permitOperator,
  startOperator,
} from '../support/operator-process.ts';
import { must } from '../support/rows.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { newSlug } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db, url, open } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;

/** Operators of one installation, and a project whose changes show that one of them works. */
async function openInstallation() {
  const namespace = await cluster.namespace();
  const { tenant, own, delivery } = permissions;
  await permitOperator(plane(), namespace, [...tenant, ...own, ...delivery]);
  const settings = {
    ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: namespace },
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey(),
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
    start: async (more: Record<string, string> = {}) => {
      const operator = await startOperator(plane(), { ...settings, ...more });
      started.push(operator);
      return operator;
    },
    change: (displayName: string) => apply('Project', 'projects', { displayName }),
    untilNamed: (displayName: string) =>
      until(async () => {
        const rows = await db.query('select name from projects where project_slug = $1', [name]);
        expect(rows).toEqual([{ name: displayName }]);
      }),
    /** The time of the newest change of the project. */
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

/** Starts a leader and a standby. */
async function startTwo(of: Installation) {
  const leader = await of.start();
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

/** The clock of the database, which terms and audit entries use. */
async function now(): Promise<number> {
  const [row] = await db.query<{ now: Date }>('select now()');
  return must(row).now.getTime();
}

/**
 * Added to the limits of the benchmark (`make bench ARGS=operator`), for a machine that is busy.
 */
const BUSY_MS = 7_000;

it('a standby follows a killed leader once its lease has expired, and not before', async () => {
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

it('a standby follows a stopped leader immediately, long before its lease would have expired', async () => {
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

it('a leader that was frozen during a pass is fenced off when it wakes up', async () => {
  const of = await openInstallation();
  const frozen = await of.start({ TINTYPE_DATABASE_URL: patientUrl() });
  await of.change('One');
  await of.untilNamed('One');
  await declareWidth(of, 100);
  await until(async () => expect(await widths(of)).toEqual([chain(100)]));
  const standby = await of.start();
  const before = await of.term();

  // The pass blocks on a read, before it writes.
  const lock = await lockRecipes();
  await declareWidth(of, 200);
  await until(() => untilWaiting(db, 1));
  frozen.child.kill('SIGSTOP');
  // Only the standby, which leads once the lease has expired, learns about these changes.
  await declareWidth(of, 300);
  for (const displayName of ['Two', 'Three', 'Four']) {
    await of.change(displayName);
    await of.untilNamed(displayName);
  }
  expect((await of.term()).epoch).toBe(before.epoch + 1);
  await lock.release();
  await until(async () => expect(await widths(of)).toEqual([chain(300)]));
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
  // The frozen process did not write its outdated spec.
  expect(await widths(of)).toEqual([chain(300)]);
  const changes = await db.query(
    `select from audit_log where target = $1 and after->'changes' ? 'update'`,
    [`${of.namespace}/${of.name}`],
  );
  expect(changes).toHaveLength(5);
  // The fenced process recovers, and leads next.
  standby.child.kill('SIGTERM');
  await once(standby.child, 'exit');
  await of.change('Six');
  await of.untilNamed('Six');
  expect(await leads(frozen)).toBe(true);
}, 300_000);

/**
 * A database URL with which the operator keeps waiting for an answer while it is frozen. By
 * default, it gives up after six seconds.
 */
function patientUrl(): string {
  const search = 'statement_timeout=300000&query_timeout=300000';
  return Object.assign(new URL(url()), { search }).href;
}

const chain = (width: number) => `resize/${width}x100`;

function declareWidth({ name, apply }: Installation, width: number) {
  return apply('Recipe', 'recipes', { projectRef: { name }, transformChain: chain(width) });
}

async function widths({ name }: Installation): Promise<string[]> {
  const rows = await db.query<{ transform_chain: string }>(
    'select transform_chain from recipes where owner_name = $1',
    [name],
  );
  return rows.map(({ transform_chain }) => transform_chain);
}

/** Blocks all reads of recipes until it is released. */
async function lockRecipes(): Promise<{ release(): Promise<void> }> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = open({ idleTransactionTimeoutMs: 300_000 }).transaction(async (tx) => {
    await tx.query('lock table recipes in access exclusive mode');
    locked.resolve();
    await released.promise;
  });
  await Promise.race([locked.promise, holding]);
  return {
    release: () => {
      released.resolve();
      return holding;
    },
  };
}

/**
 * The operator with ten thousand Projects, on a machine shared with API server, etcd and PostgreSQL: the time until all
 * are Ready, until a change reaches its row and until one more is Ready, and the cost of idling, of a restart, and of a
 * change of leader.
 * TINTYPE_BENCH_PROJECTS changes the number of Projects.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RESYNC_MS } from '../../operator/cluster/tenant-controllers.ts';
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { migrate } from '../../runtime/db/migrate.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';
import { type ControlPlane, createNamespace, startControlPlane } from '../support/control-plane.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { type Figure, figure } from './figure.ts';
import { printMetrics, REQUESTS, readCount, readUse, WRITES } from './operator-use.ts';
import { measureAtRest, measureTree } from './process-tree.ts';

const PROJECTS = Number(process.env['TINTYPE_BENCH_PROJECTS'] ?? 10_000);
const AT_ONCE = 16;
const CHANGES = 100;
/** Projects that are created one at a time, each once the one before is Ready. */
const SINGLE = 20;
/** Two periods of the checks that run every minute. */
const IDLE_MS = 120_000;
const PATIENCE_MS = 900_000;

type Bench = {
  plane: ControlPlane;
  db: Database;
  postgres_pid: number;
  namespace: string;
  start(): Promise<OperatorProcess>;
};

export async function measureOperator(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-operator-bench-'));
  const postgres = await startPostgres({ folder, settings: { fsync: 'off' } });
  await migrate(postgres.url);
  const plane = await startControlPlane({ components: [] });
  const db = createDatabase({ url: postgres.url });
  try {
    await permitAll(plane);
    const namespace = await createNamespace(plane);
    const settings = {
      POD_NAMESPACE: namespace,
      TINTYPE_DATABASE_URL: postgres.url,
      TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey(),
      NODE_OPTIONS: '--max-old-space-size=320 --max-semi-space-size=8',
    };
    const start = () => startOperator(plane, settings);
    return await measure({ plane, db, postgres_pid: postgres.pid, namespace, start });
  } finally {
    await db.close();
    await plane.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measure(bench: Bench): Promise<Figure[]> {
  const first = await bench.start();
  await until(() => leads(first));
  const { pss_bytes } = await measureAtRest(first.child.pid ?? 0);
  const rest = figure('memory at rest of the operator, nothing declared', 'MB', [pss_bytes / 1e6]);
  const [alone, ready] = [await measureSingle(bench, 'first'), await untilAllReady(bench, first)];
  const changes = await measureChanges(bench);
  const beside = await measureSingle(bench, 'late');
  const single = [
    figure('one new Project until it is Ready, the first ones', 'ms', alone),
    figure(`… beside ${PROJECTS}`, 'ms', beside),
  ];
  const idle = await measureIdle(first);
  await endOperator(first, 'SIGTERM');
  const [again, restarted] = await measureRestart(bench);
  const takeovers = await measureTakeovers(bench, again);
  return [rest, ...ready, ...changes, ...single, ...idle, ...restarted, ...takeovers];
}

async function permitAll(plane: ControlPlane): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  await kubeApply(plane, `/apis/${group}/v1/clusterrolebindings/operator`, {
    ...{ apiVersion: `${group}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'operator' } },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'operator' }],
  });
}

async function leads(operator: OperatorProcess): Promise<boolean> {
  return /^leader_election_master_status\{.*\} 1$/m.test(await printMetrics(operator));
}

async function isReady({ watched }: OperatorProcess): Promise<boolean> {
  return (await fetch(`${watched}/readyz`)).status === 200;
}

/** Resolves when the process has ended. */
async function endOperator(
  { child, stop }: OperatorProcess,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<void> {
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
  await stop();
}

function pathOf({ namespace }: Bench, name = ''): string {
  return `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects${name && `/${name}`}`;
}

const nameOf = (index: number) => `shop-${index}`;

async function createOne(bench: Bench, name: string): Promise<void> {
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Project' };
  const body = { ...head, metadata: { name }, spec: { displayName: 'Shop' } };
  await kubeOk(bench.plane, { method: 'POST', path: pathOf(bench), body });
}

/** Returns milliseconds from the response to each creation until the Project is Ready. */
async function measureSingle(bench: Bench, prefix: string): Promise<number[]> {
  const took: number[] = [];
  for (let index = 0; index < SINGLE; index += 1) {
    const name = `${prefix}-${index}`;
    await createOne(bench, name);
    const began = performance.now();
    await until(() => isProjectReady(bench, name), 2);
    took.push(performance.now() - began);
  }
  return took;
}

type Condition = { type: string; status: string };

async function isProjectReady(bench: Bench, name: string): Promise<boolean> {
  const { status } = await kubeOk(bench.plane, { method: 'GET', path: pathOf(bench, name) });
  const { conditions = [] } = (status ?? {}) as { conditions?: Condition[] };
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}

async function untilAllReady(bench: Bench, operator: OperatorProcess): Promise<Figure[]> {
  const before = await readUse(bench, operator);
  const began = performance.now();
  let next = 0;
  const create = async () => {
    for (let index = next++; index < PROJECTS; index = next++) {
      await createOne(bench, nameOf(index));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));
  const created_ms = performance.now() - began;
  await until(async () => (await readCount(operator, READY)) >= PROJECTS + SINGLE, 500);
  const seconds = (performance.now() - began) / 1000;
  const after = await readUse(bench, operator);
  return [
    figure(`${PROJECTS} Projects applied`, 's', [created_ms / 1000]),
    figure('… until all are Ready, from the first on', 's', [seconds]),
    ...before.map(([name, unit, least], index) => {
      const most = after[index]?.[2] ?? Number.NaN;
      return figure(`… ${name}`, unit, [(most - least) / PROJECTS]);
    }),
  ];
}

const READY = /^tintype_resource_time_to_ready_seconds_count\{kind="Project"\} (\d+)$/gm;
const PASSES = /^controller_runtime_reconcile_total\{controller="Project",.*\} (\d+)$/gm;

async function measureChanges(bench: Bench): Promise<Figure[]> {
  await sleep(2_000);
  const took: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    took.push(await changeOne(bench, nameOf((change * 97) % PROJECTS), `Store ${change}`));
  }
  const { median, p95, max } = figure('', '', took);
  return [
    figure('a change until it is in its row, p50', 'ms', [median]),
    figure('… p95', 'ms', [p95]),
    figure(`… p99 (the slowest but one of ${CHANGES})`, 'ms', [
      took.toSorted((a, b) => b - a)[1] ?? max,
    ]),
  ];
}

/** Returns milliseconds from the response to the change until its row is updated. */
async function changeOne(bench: Bench, name: string, displayName: string): Promise<number> {
  await kubeOk(bench.plane, {
    ...{ method: 'PATCH', path: pathOf(bench, name) },
    ...{ content_type: 'application/merge-patch+json', body: { spec: { displayName } } },
  });
  const began = performance.now();
  await until(async () => {
    const rows = await bench.db.query(
      'select from projects where project_slug = $1 and name = $2',
      [name, displayName],
    );
    return rows.length === 1;
  }, 2);
  return performance.now() - began;
}

async function measureIdle(operator: OperatorProcess): Promise<Figure[]> {
  const pid = operator.child.pid ?? 0;
  await sleep(5_000);
  const [before, asked] = [measureTree(pid).cpu_ms, await readCount(operator, REQUESTS)];
  await sleep(IDLE_MS);
  const percent = ((measureTree(pid).cpu_ms - before) / IDLE_MS) * 100;
  const requests = (await readCount(operator, REQUESTS)) - asked;
  return [
    figure(`memory with ${PROJECTS} Projects (RSS)`, 'MB', [readRss(pid)]),
    figure('CPU at rest, of one core', '%', [percent]),
    figure('requests to the API server at rest', '/s', [(requests * 1000) / IDLE_MS]),
  ];
}

function readRss(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB$/m);
  return Number(line?.[1] ?? 0) / 1000;
}

async function measureRestart(bench: Bench): Promise<[OperatorProcess, Figure[]]> {
  const began = performance.now();
  const rows = await changedRows(bench);
  const operator = await bench.start();
  await until(() => isReady(operator));
  const synced = (performance.now() - began) / 1000;
  const pid = operator.child.pid ?? 0;
  const before = measureTree(pid).cpu_ms;
  const all = PROJECTS + 2 * SINGLE;
  await until(async () => (await readCount(operator, PASSES)) >= all, 500);
  const looked = (performance.now() - began) / 1000;
  const look_ms = (measureTree(pid).cpu_ms - before) / all;
  const isSame = JSON.stringify(await changedRows(bench)) === JSON.stringify(rows);
  return [
    operator,
    [
      figure('a restart until its caches are synced', 's', [synced]),
      figure('… until every Project was looked at', 's', [looked]),
      figure('… CPU for each that was looked at', 'ms', [look_ms]),
      figure('… of one core, where each is looked at every half an hour', '%', [
        ((look_ms * all) / RESYNC_MS) * 100,
      ]),
      figure('… writes to resources', '', [await readCount(operator, WRITES)]),
      figure('… rows changed', '', [isSame ? 0 : 1]),
    ],
  ];
}

function changedRows({ db }: Bench): Promise<unknown[]> {
  return db.query('select count(*), max(updated_at), max(xmin::text::bigint) from projects');
}

async function measureTakeovers(bench: Bench, leader: OperatorProcess): Promise<Figure[]> {
  const second = await bench.start();
  await until(() => isReady(second));
  const graceful = await takeover(bench, leader, 'SIGTERM');
  const third = await bench.start();
  await until(() => isReady(third));
  const hard = await takeover(bench, second, 'SIGKILL');
  await endOperator(third, 'SIGTERM');
  return [
    figure('SIGTERM of the leader until the next one writes', 's', [graceful]),
    figure('kill -9 of the leader until the next one writes', 's', [hard]),
  ];
}

/** Returns seconds from the end of the leader until its successor has applied a new change. */
async function takeover(
  bench: Bench,
  leader: OperatorProcess,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<number> {
  const began = performance.now();
  await endOperator(leader, signal);
  await changeOne(bench, nameOf(0), `After ${signal}`);
  return (performance.now() - began) / 1000;
}

async function until(check: () => Promise<boolean>, interval_ms = 100): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
    if (await check()) return;
    await sleep(interval_ms);
  }
  throw new Error('it did not come to that in time');
}

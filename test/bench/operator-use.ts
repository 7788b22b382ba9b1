/**
 * Reads the resources used so far by the operator, API server, etcd and PostgreSQL. Differences are comparable between
 * machines.
 */
import type { Database } from '../../runtime/db/client.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { measureTree } from './process-tree.ts';

type Around = { plane: ControlPlane; db: Database; postgres_pid: number };

/** Every request, of which a watch is one when it begins. */
export const REQUESTS = /^rest_client_requests_total\{.*\} (\d+)$/gm;
export const WRITES = /^rest_client_requests_total\{.*method="(?:PATCH|POST|DELETE)".*\} (\d+)$/gm;

export async function readUse(
  { plane, db, postgres_pid }: Around,
  operator: OperatorProcess,
): Promise<[name: string, unit: string, value: number][]> {
  const [row] = await db.query<{ commits: number }>(
    'select xact_commit as commits from pg_stat_database where datname = current_database()',
  );
  const pids = [
    ['the operator', operator.child.pid ?? 0],
    ['the API server', plane.pids().get('kube-apiserver') ?? 0],
    ['etcd', plane.pids().get('etcd') ?? 0],
    ['PostgreSQL', postgres_pid],
  ] as const;
  const { user, system } = process.cpuUsage();
  return [
    ['writes to the API server for each', '', await readCount(operator, WRITES)],
    ['transactions and reads for each', '', Number(row?.commits)],
    ...pids.map(([name, pid]): [string, string, number] => {
      return [`CPU time of ${name} for each`, 'ms', measureTree(pid).cpu_ms];
    }),
    ['CPU time of this bench for each', 'ms', (user + system) / 1000],
  ];
}

export async function readCount(operator: OperatorProcess, counted: RegExp): Promise<number> {
  const found = (await printMetrics(operator)).matchAll(counted);
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
}

export async function printMetrics({ watched }: OperatorProcess): Promise<string> {
  return (await fetch(`${watched}/metrics`)).text();
}

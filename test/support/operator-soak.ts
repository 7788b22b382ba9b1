/**
 * Continuously creates, changes and deletes projects, while the operator's connections to the API server and PostgreSQL
 * fail repeatedly. At the end, the rows must match the declarations, and the heap must not have grown.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../runtime/db/client.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from './kube-fault-proxy.ts';
import { kubeApply, kubeOk, kubeRequest, type PlaneAddress } from './kube-request.ts';
import { type OperatorProcess, startOperator } from './operator-process.ts';
import { newSealingKey } from './sealing-keys.ts';
import { type FaultProxy, startFaultProxy } from './tcp-fault-proxy.ts';

export type SoakOptions = {
  plane: PlaneAddress;
  db: Database;
  database_url: string;
  namespace: string;
  /** The duration of the run, and the interval between faults. */
  duration_ms: number;
  fault_ms: number;
  /** Receives progress messages. */
  say?: (line: string) => void;
};

export type SoakReport = {
  changes: number;
  faults: number;
  /**
   * The smallest heap in each quarter of the run, in MB: approximately the memory that survives
   * garbage collection.
   */
  heaps_mb: number[];
  /**
   * The declared projects and the rows after everything has settled, as display names by project
   * name.
   */
  declared: Record<string, string>;
  rows: Record<string, string>;
};

const PROJECTS = 40;
const PAUSE_MS = 50;
const SETTLE_MS = 120_000;
/**
 * Collects garbage every two seconds. On a busy machine, late collections would look like growth.
 */
const COLLECTING = '--expose-gc --import=data:text/javascript,setInterval(gc,2000).unref()';

type Proxies = { kube: KubeFaultProxy; sql: FaultProxy };
type State = SoakOptions & Proxies & { made: Set<string>; changes: number; faults: number };

export async function soakOperator(options: SoakOptions): Promise<SoakReport> {
  const { hostname: host, port } = new URL(options.database_url);
  const kube = await startKubeFaultProxy(options.plane);
  const sql = await startFaultProxy({ host, port: Number(port) });
  const operator = await startOperator(kube, {
    ...{ POD_NAMESPACE: options.namespace, TINTYPE_WATCH_NAMESPACES: options.namespace },
    TINTYPE_DATABASE_URL: Object.assign(new URL(options.database_url), { port: String(sql.port) })
      .href,
    ...{ TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey(), NODE_OPTIONS: COLLECTING },
  });
  const state: State = { ...options, kube, sql, made: new Set(), changes: 0, faults: 0 };
  try {
    const heaps_mb = await churn(state, operator);
    const settled = await untilSettled(state);
    return { changes: state.changes, faults: state.faults, heaps_mb, ...settled };
  } finally {
    await operator.stop();
    await kube.close();
    await sql.close();
  }
}

async function churn(state: State, operator: OperatorProcess): Promise<number[]> {
  const { duration_ms, fault_ms, say } = state;
  const heaps = [Infinity, Infinity, Infinity, Infinity];
  const began = performance.now();
  let faulted = began;
  for (let gone = 0; gone < duration_ms; gone = performance.now() - began) {
    await change(state);
    const quarter = Math.floor((gone / duration_ms) * 4);
    heaps[quarter] = Math.min(heaps[quarter] ?? Infinity, await readHeap(operator));
    if (performance.now() - faulted > fault_ms) {
      const name = await fault(state);
      faulted = performance.now();
      say?.(
        `${Math.round(gone / 1000)} s: ${name}; ${state.changes} changes, heap ${heaps[quarter]?.toFixed(0)} MB`,
      );
    }
    await sleep(PAUSE_MS);
  }
  return heaps;
}

/** Creates, changes or deletes a random project. */
async function change(state: State): Promise<void> {
  const { plane, namespace, made } = state;
  const name = `soak-${namespace}-${randomInt(PROJECTS)}`.slice(0, 60);
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects/${name}`;
  state.changes += 1;
  if (made.has(name) && randomInt(5) === 0) {
    await kubeRequest(plane, { method: 'DELETE', path });
    made.delete(name);
    return;
  }
  const displayName = `Shop ${state.changes}`;
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Project' };
  await kubeApply(plane, path, { ...head, metadata: { name, namespace }, spec: { displayName } });
  made.add(name);
}

async function readHeap({ watched }: OperatorProcess): Promise<number> {
  const printed = await (await fetch(`${watched}/metrics`)).text();
  const [, bytes] = /^tintype_nodejs_heap_size_used_bytes (\d+)/m.exec(printed) ?? [];
  return Number(bytes ?? Number.NaN) / 1e6;
}

/**
 * The order matters: frozen watches come first, so that later faults end them in a short soak, and
 * the operator's own timeout in a long one.
 */
const faults: Readonly<Record<string, (proxies: Proxies) => Promise<void> | void>> = {
  'the API server falls silent': ({ kube }) => kube.freeze(),
  'the API server refuses': ({ kube }) => kube.refuse({ times: 20, status: 429, retry_after: 1 }),
  'the API server fails': ({ kube }) => kube.refuse({ times: 20, status: 500 }),
  'connections to PostgreSQL break': ({ sql }) => sql.cut(),
  'PostgreSQL is away': async ({ sql }) => {
    sql.set({ kind: 'refuse' });
    sql.cut();
    await sleep(2_000);
    sql.set({ kind: 'none' });
  },
  'an answer of PostgreSQL is lost': ({ sql }) => sql.set({ kind: 'drop_response', times: 1 }),
  'watches are reset': ({ kube }) => kube.cutWatches('reset'),
  'watches end': ({ kube }) => kube.cutWatches('end'),
  'a watch ends within a line': ({ kube }) => kube.cutNextLine('reset'),
};

async function fault(state: State): Promise<string> {
  const names = Object.keys(faults);
  const name = names[state.faults % names.length] ?? '';
  state.faults += 1;
  await faults[name]?.(state);
  return name;
}

/** Only active rows: the project of a deleted resource is suspended. */
async function readRows({ db, namespace }: State): Promise<Record<string, string>> {
  const rows = await db.query<{ project_slug: string; name: string }>(
    `select project_slug, name from projects
     where owner_namespace = $1 and status = 'active' order by project_slug`,
    [namespace],
  );
  return Object.fromEntries(
    rows.map(({ project_slug, name }) => [project_slug, name] as const).sort(),
  );
}

/**
 * Read from the API server, because changes to a resource that is being deleted are lost with it.
 */
async function readDeclared({ plane, namespace }: State): Promise<Record<string, string>> {
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects`;
  const { items } = (await kubeOk(plane, { path })) as { items: Project[] };
  const there = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return Object.fromEntries(
    there.map(({ metadata, spec }) => [metadata.name, spec.displayName] as const).sort(),
  );
}

type Project = {
  metadata: { name: string; deletionTimestamp?: string };
  spec: { displayName: string };
};

/** Returns both states once they are equal, or after the timeout. */
async function untilSettled(state: State): Promise<Pick<SoakReport, 'declared' | 'rows'>> {
  state.sql.set({ kind: 'none' });
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const [declared, rows] = await Promise.all([readDeclared(state), readRows(state)]);
    const isSame = JSON.stringify(declared) === JSON.stringify(rows);
    if (isSame || performance.now() > until) return { declared, rows };
    await sleep(200);
  }
}

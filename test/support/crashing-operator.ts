/**
 * Runs the operator's passes over a few resources as simulated processes that crash at a chosen write. Only what the
 * API server, the database and the storage received survives into the next one. Every write goes through a counter, so
 * no crash point is missed.
 */
import type { KubeClient } from '../../operator/kube/client.ts';
import type { KubeMetrics } from '../../operator/kube/metrics.ts';
import type { Database } from '../../runtime/db/client.ts';
import { connectKube } from '../operator/kube/connect.ts';
import type { PlaneAddress } from './kube-request.ts';

/** The index of the write, from 0, and whether to crash before it is sent or after it succeeded. */
export type CrashPoint = { write: number; side: 'before' | 'after' };

export type CrashingOperator = {
  /** Runs passes until one writes nothing or crashes. Returns the writes in order. */
  run(at?: CrashPoint): Promise<string[]>;
  /** Whether any run so far started a write while another was in progress. */
  hasOverlapped(): boolean;
};

/** Wraps a write. Writes to anything but the API server and the database must use it explicitly. */
export type Step = <T>(name: string, write: () => Promise<T>) => Promise<T>;

/** All connections of the process to other systems. */
export type Through = { client: KubeClient; db: Database; metrics: KubeMetrics; step: Step };

type Options = {
  plane: PlaneAddress;
  db: Database;
  /** Starts a simulated process without memory, and returns its pass over all resources. */
  start(through: Through): () => Promise<void>;
  /** What other processes do before the next pass, such as workers and Kubernetes controllers. */
  others?: (() => Promise<void>) | undefined;
};

class Crash extends Error {}

const WRITES = ['create', 'apply', 'applyStatus', 'replace', 'merge', 'delete'] as const;
const PASSES_MAX = 12;

export function createCrashingOperator(options: Options): CrashingOperator {
  const seen = { underWay: 0, overlapped: false };
  return {
    hasOverlapped: () => seen.overlapped,
    run: async (at) => {
      const { client, metrics } = connectKube(options.plane);
      const writes: string[] = [];
      const step = createStep({ writes, at, seen });
      const through = { client: counted(client, step), db: countedDatabase(options.db, step) };
      try {
        await passes(options, { ...through, metrics, step }, writes);
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      } finally {
        client.close();
      }
      return writes;
    },
  };
}

type Stepping = {
  writes: string[];
  at: CrashPoint | undefined;
  seen: { underWay: number; overlapped: boolean };
};

function createStep({ writes, at, seen }: Stepping): Step {
  return async (name, write) => {
    const isHere = at?.write === writes.length;
    // After the crash, every further write fails.
    if (at !== undefined && writes.length > at.write) throw new Crash();
    writes.push(name);
    if (isHere && at.side === 'before') throw new Crash();
    seen.overlapped ||= seen.underWay > 0;
    seen.underWay += 1;
    const result = await write().finally(() => {
      seen.underWay -= 1;
    });
    if (isHere) throw new Crash();
    return result;
  };
}

function counted(client: KubeClient, step: Step): KubeClient {
  return new Proxy(client, {
    get: (target, property, receiver) => {
      const verb = WRITES.find((each) => each === property);
      const method: unknown = Reflect.get(target, property, receiver);
      if (verb === undefined || typeof method !== 'function') return method;
      return (...args: unknown[]) =>
        step(`${verb} ${kindOf(args[0])}`, async () => Reflect.apply(method, target, args));
    },
  });
}

function kindOf(type: unknown): string {
  return typeof type === 'object' && type !== null && 'kind' in type ? String(type.kind) : '';
}

function countedDatabase(db: Database, step: Step): Database {
  return {
    ...db,
    query: (text, values) =>
      db.transaction(async (tx) => {
        await tx.query('set transaction read only');
        return tx.query(text, values);
      }),
    transaction: (work, settings) => step('commit', () => db.transaction(work, settings)),
  };
}

async function passes(
  { start, others }: Options,
  through: Through,
  writes: readonly string[],
): Promise<void> {
  const look = start(through);
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    await others?.();
    const before = writes.length;
    await look();
    if (writes.length === before) return;
  }
  throw new Error(`it does not come to rest: ${writes.slice(-10).join(', ')}`);
}

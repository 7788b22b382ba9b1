/** Faults of a statement or a commit, on the wire or in the backend that executes it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queryable } from '../../../runtime/db/client.ts';
import type { Fault, FaultProxy } from '../../support/tcp-fault-proxy.ts';

export type DatabaseFault = {
  /**
   * `a database that …`. The statement takes effect, except with the fault that ends the backend
   * beforehand.
   */
  name: string;
  /** Called right before a call is sent, with the connection that sends it. */
  begin(queries: Queryable): Promise<void>;
  /** Called when everything that the fault may affect is over. */
  end(): Promise<void>;
  /** How often the fault has struck. */
  count(): number;
};

/** `admin` reaches the server without the proxy. */
export function databaseFaults(admin: Database, proxy: () => FaultProxy): DatabaseFault[] {
  const onTheWire = (name: string, fault: Fault) =>
    counted(name, {
      begin: async () => proxy().set(fault),
      end: async () => proxy().set({ kind: 'none' }),
    });
  return [
    onTheWire('is cut off before its answer', { kind: 'drop_response', times: 1 }),
    onTheWire('is not heard of again', { kind: 'drop_response' }),
    counted('ends the backend beforehand', {
      begin: (queries) => endBackend(admin, queries),
      end: async () => undefined,
    }),
    behindACommit(admin),
  ];
}

function counted(name: string, fault: Pick<DatabaseFault, 'begin' | 'end'>): DatabaseFault {
  let count = 0;
  return {
    name,
    begin: async (queries) => {
      count += 1;
      await fault.begin(queries);
    },
    end: () => fault.end(),
    count: () => count,
  };
}

/**
 * Ends the backend after its commit, while it waits for a standby that the tests' server is
 * configured with and never gets.
 */
function behindACommit(admin: Database): DatabaseFault {
  let ending: Promise<void> | undefined;
  let isOver = false;
  let count = 0;
  const endWaiting = async () => {
    while (!isOver) {
      const ended = await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event = 'SyncRep'`,
      );
      count += ended.length;
      await sleep(2);
    }
  };
  return {
    name: 'ends the backend behind a commit',
    begin: async (queries) => {
      await queries.query('set synchronous_commit = on');
      isOver = false;
      ending = endWaiting();
    },
    end: async () => {
      isOver = true;
      await ending;
    },
    count: () => count,
  };
}

async function endBackend(admin: Database, queries: Queryable): Promise<void> {
  const [row] = await queries.query<{ pid: number }>('select pg_backend_pid() as pid');
  const [ended] = await admin.query<{ is_gone: boolean }>(
    'select pg_terminate_backend($1, 4000) as is_gone',
    [row?.pid],
  );
  if (ended?.is_gone !== true) throw new Error('a backend did not end');
}

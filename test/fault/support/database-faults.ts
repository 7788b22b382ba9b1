/** Faults of a statement or commit, on the network or in the PostgreSQL backend that executes it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queryable } from '../../../runtime/db/client.ts';
import type { Fault, FaultProxy } from '../../support/tcp-fault-proxy.ts';

export type DatabaseFault = {
  /**
   * Completes the sentence `a database that …`. The statement takes effect, except if the backend
   * is terminated before it.
   */
  name: string;
  /** Called right before a call is sent, with its connection. */
  begin(queries: Queryable): Promise<void>;
  /** Called after everything that the fault may affect. */
  end(): Promise<void>;
  /** How often the fault has occurred. */
  count(): number;
};

/** `admin` connects to the server without the proxy. */
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
 * Terminates the backend after its commit, while it waits for the standby that the test server is
 * configured with but does not have.
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
      await sleep(20);
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

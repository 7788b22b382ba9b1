// The one way to PostgreSQL, and the only importer of pg. Every call has a deadline; a connection that failed in any
// way but an ordinary SQL error is destroyed, because pg hands it out again after a timeout. A commit whose answer
// was lost is InDoubtCommit: it is looked up by its natural key, never blindly repeated.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ServiceError } from '../core/errors.ts';
import {
  describeFailure,
  InDoubtCommit,
  isInDoubt,
  isOutdatedPlan,
  isRetryable,
} from './failures.ts';
import { dropKept, nameOfKept } from './kept-statements.ts';
import { parserOf } from './parse-values.ts';

export type Queryable = {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
};

/** What the work of a transaction gets: statements that commit or fail together. */
export type Transaction = Queryable;

export type TransactionOptions<T> = {
  /**
   * Asked on a new connection after a commit in doubt: the result when the effect is there, found by its natural
   * key; undefined when it is not, and the work is repeated. Without it InDoubtCommit reaches the caller.
   */
  settle?: (db: Queryable) => Promise<T | undefined>;
};

export type Database = Queryable & {
  /** Repeats the work after a deadlock or a serialization failure, so it holds no effects outside the database. */
  transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options?: TransactionOptions<T>,
  ): Promise<T>;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  maxConnections?: number;
  /** Of one statement; the server cancels it then, and we give the connection up a second later. */
  queryTimeoutMs?: number;
  /** Of waiting for a connection: a free one of the pool, or a new one. */
  connectTimeoutMs?: number;
  /** The longest silence between two statements of a transaction before the server ends it. */
  idleTransactionTimeoutMs?: number;
  applicationName?: string;
  /** Told of connections that broke while idle; the pool has replaced them already. */
  onIdleFailure?: (error: unknown) => void;
  /** Around every statement, to watch it. */
  around?: Around;
};

/** Calls the work and returns what it returns. */
export type Around = <T>(statement: string, work: () => Promise<T>) => Promise<T>;

/** With its connections: all, those that nobody has, and callers that wait for one. */
export type OpenDatabase = Database & {
  pool(): { total: number; idle: number; waiting: number };
};

const ANSWER_GRACE_MS = 1_000;
/** A burst that finds none left waits for each to log in and to plan anew what it keeps: many times a query. */
const IDLE_CONNECTION_MS_MAX = 300_000;
const TRANSACTION_ATTEMPTS_MAX = 5;
const RETRY_DELAY_MS = 20;

export function createDatabase(options: DatabaseOptions): OpenDatabase {
  const pool = createPool(options);
  const leases = { pool, around: options.around ?? ((_, work) => work()) };
  const query = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    withLease(leases, (lease) => sendAlone<Row>(lease, text, values));
  return {
    query,
    transaction: (work, settings = {}) =>
      runRepeatedly({ leases, work, settle: settings.settle, query }),
    close: () => pool.end(),
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  };
}

function createPool(options: DatabaseOptions): pg.Pool {
  const queryTimeoutMs = options.queryTimeoutMs ?? 5_000;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 3_000,
    idleTimeoutMillis: IDLE_CONNECTION_MS_MAX,
    statement_timeout: queryTimeoutMs,
    query_timeout: queryTimeoutMs + ANSWER_GRACE_MS,
    idle_in_transaction_session_timeout: options.idleTransactionTimeoutMs ?? 15_000,
    application_name: options.applicationName ?? 'tintype',
    keepAlive: true,
    types: { getTypeParser: findParser },
  });
  pool.on('error', (cause) => options.onIdleFailure?.(describeFailure(cause)));
  return pool;
}

/** A checked-out connection, and why it must not go back to the pool, if so. */
type Lease = { client: pg.PoolClient; around: Around; spent?: Error };
type Leases = { pool: pg.Pool; around: Around };

async function withLease<T>(
  { pool, around }: Leases,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((cause: unknown) => {
    throw describeFailure(cause);
  });
  // A socket that breaks between two statements would end the process; the next statement reports it.
  const onError = () => {};
  client.on('error', onError);
  const lease: Lease = { client, around };
  try {
    return await work(lease);
  } finally {
    client.off('error', onError);
    client.release(lease.spent ?? isInTransaction(client));
  }
}

// A `begin` that came as a statement, or a rollback that failed: the next user would work inside of it. pg makes a
// new connection then.
function isInTransaction(client: pg.PoolClient): boolean {
  return client.getTransactionStatus() !== 'I';
}

async function send<Row>(lease: Lease, text: string, values: readonly unknown[]): Promise<Row[]> {
  try {
    // The rows' shape is the statement's own; this is the one edge where it is asserted.
    return (await ask(lease, text, values)).rows as Row[];
  } catch (cause) {
    // From now on it is sent as it stands, on every connection, and whoever may repeats it.
    if (isOutdatedPlan(cause)) dropKept(text);
    const failure = describeFailure(cause);
    if (failure instanceof ServiceError) lease.spent = failure;
    throw failure;
  }
}

function ask({ client, around }: Lease, text: string, values: readonly unknown[] = []) {
  const name = nameOfKept(text);
  const statement = { text, values: [...values], ...(name === undefined ? {} : { name }) };
  return around(text, () => client.query(statement));
}

/** A statement outside of a transaction. */
async function sendAlone<Row>(
  lease: Lease,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  try {
    return await send<Row>(lease, text, values);
  } catch (failure) {
    // pg tells of a failure before it knows in which state that left the connection; after one more answer it does.
    if (lease.spent === undefined) await send(lease, '', []).catch(() => undefined);
    if (isOutdatedPlan(failure)) return send<Row>(lease, text, values);
    throw failure;
  }
}

type Run<T> = {
  leases: Leases;
  work: (tx: Transaction) => Promise<T>;
  settle: TransactionOptions<T>['settle'];
  query: Queryable['query'];
};

async function runRepeatedly<T>(run: Run<T>): Promise<T> {
  let wasInDoubt = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await withLease(run.leases, (lease) => runOnce(lease, run.work));
    } catch (error) {
      wasInDoubt ||= error instanceof InDoubtCommit;
      const isLast = attempt >= TRANSACTION_ATTEMPTS_MAX;
      if (isRetryable(error) && !isLast) {
        await sleep(RETRY_DELAY_MS * attempt * (1 + Math.random()));
        continue;
      }
      if (!wasInDoubt || run.settle === undefined) throw error;
      const settled = await run.settle({ query: run.query });
      if (settled !== undefined) return settled;
      if (isLast || !(error instanceof InDoubtCommit)) throw error;
    }
  }
}

async function runOnce<T>(lease: Lease, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await send(lease, 'begin', []);
  const handle = openHandle(lease);
  try {
    const result = await work(handle.tx);
    handle.end();
    await commit(lease);
    return result;
  } catch (error) {
    handle.end();
    await rollBack(lease);
    throw error;
  }
}

/** What the work gets; whoever keeps it beyond the end would send to a connection that others have by then. */
function openHandle(lease: Lease): { tx: Transaction; end: () => void } {
  let hasEnded = false;
  const query = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    if (hasEnded) throw new Error('the transaction of this handle has ended');
    return send<Row>(lease, text, values);
  };
  return {
    tx: { query },
    end: () => {
      hasEnded = true;
    },
  };
}

async function commit(lease: Lease): Promise<void> {
  // The work may have swallowed it; what was sent and never answered must not be committed.
  if (lease.spent !== undefined) throw lease.spent;
  let answer: pg.QueryResult;
  try {
    answer = await ask(lease, 'commit');
  } catch (cause) {
    if (!isInDoubt(cause)) throw describeFailure(cause);
    lease.spent = new InDoubtCommit(cause);
    throw lease.spent;
  }
  // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error: someone swallowed its failure.
  if (answer.command !== 'COMMIT')
    throw new Error('the transaction had failed and was rolled back');
}

// The server rolls back by itself what was on a lost connection.
async function rollBack(lease: Lease): Promise<void> {
  if (lease.spent !== undefined) return;
  await send(lease, 'rollback', []).catch(() => undefined);
}

function findParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return parserOf(oid, pg.types.getTypeParser(oid, format ?? 'text'));
}

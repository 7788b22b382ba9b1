// The only access to PostgreSQL, and the only importer of pg. Every call has a deadline. A connection that failed,
// other than by an ordinary SQL error, is destroyed, because pg would hand it out again after a timeout. A commit whose
// answer was lost is an InDoubtCommit: its effect is looked up by natural key, and never repeated blindly.
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
import { parserOf } from './parse-values.ts';
import { dropPrepared, preparedName } from './prepared-statements.ts';
import { openHandle } from './transaction-handle.ts';
import { createWriteCheck } from './write-check.ts';

export type Queryable = {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
};

/** The handle for a transaction's statements, which commit or fail together. */
export type Transaction = Queryable;

export type TransactionOptions<T> = {
  /**
   * Called on a new connection after a commit in doubt: returns the result if its natural key is
   * found, else undefined, and the work is repeated. Without it the caller gets InDoubtCommit.
   */
  settle?: (db: Queryable) => Promise<T | undefined>;
};

export type Database = Queryable & {
  /** Repeats `work` after deadlocks and serialization failures: no effects outside the database. */
  transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options?: TransactionOptions<T>,
  ): Promise<T>;
  /**
   * Rejects if the database cannot be used now, or refused a write, as with a full disk, and takes
   * none since.
   */
  check(): Promise<void>;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  maxConnections?: number;
  /** Per statement; the server then cancels it, and the client closes the connection 1 s later. */
  queryTimeoutMs?: number;
  /** For obtaining a connection: a free one of the pool, or a new one. */
  connectTimeoutMs?: number;
  /** The longest pause between two statements of a transaction before the server ends it. */
  idleTransactionTimeoutMs?: number;
  applicationName?: string;
  /** Called for connections that broke while idle, and that the pool has already replaced. */
  onIdleFailure?: (error: unknown) => void;
  /** Wraps every statement, for observation. */
  intercept?: QueryInterceptor;
};

/** Calls the work and returns what it returns. */
export type QueryInterceptor = <T>(statement: string, work: () => Promise<T>) => Promise<T>;

/** Includes counts of connections: all, idle ones, and callers that wait for one. */
export type OpenDatabase = Database & {
  pool(): { total: number; idle: number; waiting: number };
};

const ANSWER_GRACE_MS = 1_000;
/** Long: in a burst, each new connection must log in and plan its prepared statements again. */
const IDLE_CONNECTION_MS_MAX = 300_000;
const TRANSACTION_ATTEMPTS_MAX = 5;
const RETRY_DELAY_MS = 20;

export function createDatabase(options: DatabaseOptions): OpenDatabase {
  const pool = createPool(options);
  const writes = createWriteCheck();
  const intercept = writes.watch(options.intercept ?? ((_, work) => work()));
  const leases = { pool, intercept };
  const query = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    withLease(leases, (lease) => sendAlone<Row>(lease, text, values));
  const transaction: Database['transaction'] = (work, { settle } = {}) =>
    runRepeatedly({ leases, work, settle, query });
  return {
    query,
    transaction,
    check: () => writes.check({ query, transaction }),
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
  // An end of the connection between statements, or in the moment that it is opened, would crash the
  // process; the next statement reports it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A checked-out connection; `spent` says why it must not return to the pool. */
type Lease = { client: pg.PoolClient; intercept: QueryInterceptor; spent?: Error };
type Leases = { pool: pg.Pool; intercept: QueryInterceptor };

async function withLease<T>(
  { pool, intercept }: Leases,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((cause: unknown) => {
    throw describeFailure(cause);
  });
  const lease: Lease = { client, intercept };
  try {
    return await work(lease);
  } finally {
    client.release(lease.spent ?? isInTransaction(client));
  }
}

// After a `begin` sent as a plain statement, or a failed rollback, the next user would work inside
// that transaction. pg then opens a new connection.
function isInTransaction(client: pg.PoolClient): boolean {
  return client.getTransactionStatus() !== 'I';
}

async function send<Row>(lease: Lease, text: string, values: readonly unknown[]): Promise<Row[]> {
  try {
    // The statement determines the rows' shape; only here is that asserted.
    return (await ask(lease, text, values)).rows as Row[];
  } catch (cause) {
    // From now on the text is sent unprepared; callers that may repeat it do.
    if (isOutdatedPlan(cause)) dropPrepared(text);
    const failure = describeFailure(cause);
    if (failure instanceof ServiceError) lease.spent = failure;
    throw failure;
  }
}

function ask({ client, intercept }: Lease, text: string, values: readonly unknown[] = []) {
  const name = preparedName(text);
  const statement = { text, values: [...values], ...(name === undefined ? {} : { name }) };
  return intercept(text, () => client.query(statement));
}

/** Sends a statement outside a transaction. */
async function sendAlone<Row>(
  lease: Lease,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  try {
    return await send<Row>(lease, text, values);
  } catch (failure) {
    // pg reports a failure before it knows the connection's state; one more answer tells it.
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
  const handle = openHandle((text, values = []) => send(lease, text, values));
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

async function commit(lease: Lease): Promise<void> {
  // The work may have swallowed the error; a statement without an answer must not be committed.
  if (lease.spent !== undefined) throw lease.spent;
  let answer: pg.QueryResult;
  try {
    answer = await ask(lease, 'commit');
  } catch (cause) {
    if (!isInDoubt(cause)) throw describeFailure(cause);
    lease.spent = new InDoubtCommit(cause);
    throw lease.spent;
  }
  // COMMIT of a failed transaction returns ROLLBACK and no error: the work swallowed its failure.
  if (answer.command !== 'COMMIT')
    throw new Error('the transaction had failed and was rolled back');
}

// If the connection is lost, the server rolls back by itself.
async function rollBack(lease: Lease): Promise<void> {
  if (lease.spent !== undefined) return;
  await send(lease, 'rollback', []).catch(() => undefined);
}

function findParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return parserOf(oid, pg.types.getTypeParser(oid, format ?? 'text'));
}

/**
 * An open transaction as a Database: code that uses it joins the transaction, and commits or fails with the rest.
 * Nested transactions are savepoints, so that one of them can fail and the others continue. They run one after another.
 */
import type { Database, Transaction } from './client.ts';

export function joinTransaction(tx: Transaction): Database {
  let last: Promise<unknown> = Promise.resolve();
  let count = 0;
  return {
    query: tx.query,
    transaction: (work) => {
      count += 1;
      const savepoint = `joined_${count}`;
      const run = last.then(() => runInSavepoint(tx, savepoint, work));
      last = run.catch(() => undefined);
      return run;
    },
    check: async () => void (await tx.query('select 1')),
    close: async () => {},
  };
}

async function runInSavepoint<T>(
  tx: Transaction,
  savepoint: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  await tx.query(`savepoint ${savepoint}`);
  try {
    const result = await work(tx);
    await tx.query(`release savepoint ${savepoint}`);
    return result;
  } catch (error) {
    await tx.query(`rollback to savepoint ${savepoint}`);
    throw error;
  }
}

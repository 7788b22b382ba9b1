// The handle of a transaction's work. After the end it would send to a connection that others have by then.
import type { Queryable, Transaction } from './client.ts';

export function openHandle(send: Queryable['query']): { tx: Transaction; end: () => void } {
  let hasEnded = false;
  const query: Queryable['query'] = async (text, values) => {
    if (hasEnded) throw new Error('the transaction of this handle has ended');
    return send(text, values);
  };
  return {
    tx: { query },
    end: () => {
      hasEnded = true;
    },
  };
}

/**
 * Raises the API's database timeouts for the rest of a test. A race of 50 calls can take long on a busy machine, and
 * must not fail because of timeouts for connections and row locks.
 */
import { onTestFinished } from 'vitest';
import { createDatabase } from '../../runtime/db/client.ts';
import type { Api } from './api-server.ts';

const WAIT_MS_MAX = 60_000;

export function waitPatiently(api: Api): void {
  const db = createDatabase({
    url: api.databaseUrl(),
    maxConnections: 12,
    connectTimeoutMs: WAIT_MS_MAX,
    queryTimeoutMs: WAIT_MS_MAX,
    idleTransactionTimeoutMs: WAIT_MS_MAX,
  });
  api.change({ db });
  onTestFinished(() => db.close());
}

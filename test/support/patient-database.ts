/**
 * A race of 50 calls takes as long as a busy machine needs: for the rest of a test, the API waits for connections and
 * for row locks longer than a caller would.
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

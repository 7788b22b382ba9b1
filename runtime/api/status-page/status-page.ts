/**
 * The status page at /status, for people: the current state of each service, its last day, and recent incidents.
 * Rendered on the server, without scripts. Spec: Public, status.
 */
import { type Response, Router } from 'express';
import { STATUS_CACHE_SECONDS } from '../../core/limits.ts';
import type { Database } from '../../db/client.ts';
import { findDatabaseTime } from '../../db/database-time.ts';
import { READING_POLICY } from '../reading-policy.ts';
import type { StatusBoard } from '../status-board.ts';
import { printStatusPage } from './print-status-page.ts';

type Deps = { readonly db: Database; readonly status: StatusBoard };

export function statusPage({ db, status }: Deps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get(['/status', '/status/'], async (_request, response) => {
    const now = await findDatabaseTime(db);
    keep(response)
      .type('html')
      .send(printStatusPage(await status(db, now), now));
  });
  router.get('/status/status.css', (_request, response) => {
    keep(response).sendFile('status.css', { root: import.meta.dirname });
  });
  return router;
}

function keep(response: Response): Response {
  return response.set({
    'cache-control': `public, max-age=${STATUS_CACHE_SECONDS}`,
    'content-security-policy': READING_POLICY,
    'referrer-policy': 'no-referrer',
  });
}

/** A real worker that is killed with SIGKILL when an upload reaches a given failpoint. */
import { createDatabase } from '../../../../runtime/db/client.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { failpoints, killAt } from '../../../../runtime/platform/failpoint.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../../runtime/platform/queue/in-process.ts';
import { startWorker } from '../../../../runtime/worker/serve.ts';
import { openFolderBuckets } from '../../../support/folder-buckets.ts';

const [databaseUrl = '', folder = '', point = ''] = process.argv.slice(2);

await startWorker({
  db: createDatabase({ url: databaseUrl, maxConnections: 2 }),
  buckets: openFolderBuckets(folder),
  queue: createInProcessQueue(),
  clock: systemClock,
  log: createLog({ level: 'silent', name: 'dying-worker' }),
  lease_seconds: 1,
  poll_every_ms: 50,
  render: { slots: 0 },
  failpoint: killAt(failpoints.find((name) => name === point) ?? 'ingest.claimed'),
});

/** A worker as in a deployment, on a test's database and storage, which takes over the work of killed ones. */
import { createDatabase } from '../../../runtime/db/client.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { openQueue } from '../../../runtime/platform/queue/open-queue.ts';
import { startWorker } from '../../../runtime/worker/serve.ts';
import { openStorage, type StorageWords } from './storages.ts';

export type TakingWords = {
  url: string;
  storage: StorageWords;
  poll_every_ms: number;
  amqpUrl?: string;
  /** Default: 0. */
  render_slots?: number;
};

const words = JSON.parse(process.argv[2] ?? '') as TakingWords;
const { url, storage, poll_every_ms, amqpUrl, render_slots = 0 } = words;
const log = createLog({ level: 'silent', name: 'taking-worker' });
const db = createDatabase({ url, maxConnections: 4 });
const queue = await openQueue({ amqpUrl }, log);
const worker = await startWorker({
  db,
  buckets: openStorage(storage),
  queue,
  clock: systemClock,
  log,
  poll_every_ms,
  render: { slots: render_slots },
});
process.stdout.write('ready\n');
process.once('SIGTERM', () => void end());

async function end(): Promise<void> {
  await worker.stop();
  await queue.close();
  await db.close();
}

/** A worker as in a deployment, which is killed whenever it opens one of the uploads. */
import { createDatabase } from '../../../runtime/db/client.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import type { Bucket } from '../../../runtime/platform/storage/bucket.ts';
import { startWorker } from '../../../runtime/worker/serve.ts';
import { openStorage, type StorageWords } from './storages.ts';

export type DeadlyWords = {
  url: string;
  storage: StorageWords;
  /** The key of the upload that kills. */
  deadly_key: string;
  /** An upload that has to be in the same worker before it dies; null: it dies at once. */
  beside_key: string | null;
};

const words = JSON.parse(process.argv[2] ?? '') as DeadlyWords;
const { url, storage, deadly_key, beside_key } = words;
const db = createDatabase({ url, maxConnections: 4 });
const buckets = openStorage(storage);
const opened = new Set<string>();
const never = new Promise<never>(() => undefined);

const open: Bucket['open'] = (key) => {
  opened.add(key);
  const isBeside = beside_key === null || opened.has(beside_key);
  if (opened.has(deadly_key) && isBeside) process.kill(process.pid, 'SIGKILL');
  return beside_key === null ? buckets.ingest.open(key) : never;
};

const worker = await startWorker({
  db,
  buckets: { ...buckets, ingest: { ...buckets.ingest, open } },
  queue: createInProcessQueue(),
  clock: systemClock,
  log: createLog({ level: 'silent', name: 'deadly-worker' }),
  poll_every_ms: 50,
  render: { slots: 0 },
});
process.once('SIGTERM', () => void worker.stop().then(() => db.close()));

/** A delivery process on a test's database, storage and spool. It prints its port, and SIGTERM stops it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createDatabase } from '../../../runtime/db/client.ts';
import { startDelivery } from '../../../runtime/delivery/serve.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createMetrics } from '../../../runtime/platform/metrics.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import { BASE_URL, ROOT_DOMAIN, sealing } from '../../support/delivery-host.ts';
import { openStorage, type StorageWords } from './storages.ts';

export type SendingWords = { url: string; storage: StorageWords; spool_folder: string };

const { url, storage, spool_folder } = JSON.parse(process.argv[2] ?? '') as SendingWords;
const db = createDatabase({ url, maxConnections: 4 });
const delivery = startDelivery({
  db,
  clock: systemClock,
  sealing,
  baseUrl: BASE_URL,
  rootDomain: ROOT_DOMAIN,
  content: openStorage(storage).content,
  queue: createInProcessQueue(),
  log: createLog({ level: 'silent', name: 'sending-delivery' }),
  metrics: createMetrics(),
  spool_folder,
});
delivery.server.listen(0, '127.0.0.1');
await once(delivery.server, 'listening');
process.stdout.write(`${(delivery.server.address() as AddressInfo).port}\n`);
process.once('SIGTERM', () => void end());

async function end(): Promise<void> {
  await delivery.stop();
  await db.close();
}

/**
 * A delivery server as a separate process: `node small-disk-delivery.ts <spool folder> <content folder> <database>`. It
 * prints its port, then its log lines. For each input line it prints an object `counts`: the number of deliveries whose
 * usage was not spooled, and of those whose usage was lost.
 */
import { createInterface } from 'node:readline';
import { createDatabase } from '../../runtime/db/client.ts';
import { startDelivery } from '../../runtime/delivery/serve.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { listen } from '../../runtime/platform/http/listen.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createMetrics } from '../../runtime/platform/metrics.ts';
import { createInProcessQueue } from '../../runtime/platform/queue/in-process.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { openFolderBuckets } from './folder-buckets.ts';

const [spool_folder = '', contentFolder = '', url = ''] = process.argv.slice(2);
const metrics = createMetrics();
const { server } = startDelivery({
  db: createDatabase({ url }),
  content: openFolderBuckets(contentFolder).content,
  clock: systemClock,
  sealing: createSealing([{ id: 'test', key: Buffer.alloc(32, 5) }]),
  log: createLog({ level: 'info', name: 'test', destination: process.stdout }),
  metrics,
  queue: createInProcessQueue(),
  rootDomain: 'images.test',
  spool_folder,
});
console.log(await listen(server, { port: 0, option: 'none' }));
createInterface({ input: process.stdin }).on('line', async () => {
  const { text } = await metrics.print();
  const countOf = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]);
  const lost = countOf('tintype_usage_lost_total');
  const unspooled = countOf('tintype_usage_unspooled_total');
  console.log(`counts ${JSON.stringify({ lost, unspooled })}`);
});

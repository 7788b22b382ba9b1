/** A process for tests that kill it: it records deliveries without pause, and regularly prints how many are spooled. */
import { createDatabase } from '../../runtime/db/client.ts';
import { startMeter } from '../../runtime/delivery/meter.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createLog } from '../../runtime/platform/log.ts';

const [folder = '', url = '', project_id = ''] = process.argv.slice(2);
const meter = startMeter(folder, {
  db: createDatabase({ url }),
  clock: systemClock,
  log: createLog({ level: 'silent', name: 'test' }),
  metrics: { usageUnspooled: () => undefined, usageLost: () => undefined },
});

for (let count = 1; ; count += 1) {
  meter.record({ at: Date.now(), project_id, bytes: 10, kind: 'derived', is_watermarked: false });
  if (count % 50 === 0) {
    // Waits until the kernel has the line: what this process still buffers is lost when it is
    // killed.
    await new Promise((said) => process.stdout.write(`${count}\n`, said));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * A process for tests that kill it: it endlessly overwrites one key, each time with another byte value.
 * With the argument `check` it only checks the folder, and prints `ready` or the advice.
 */
import { Readable } from 'node:stream';
import { systemClock } from '../../runtime/platform/clock.ts';
import { StorageUnavailable } from '../../runtime/platform/storage/bucket.ts';
import { createFolderBucket } from '../../runtime/platform/storage/folder.ts';

const [folder = '', task] = process.argv.slice(2);
const bucket = createFolderBucket({
  name: 'content',
  folder,
  publicUrl: 'http://localhost',
  secret: Buffer.alloc(32, 7),
  clock: systemClock,
});

if (task === 'check') await check();
else await writeForever();

async function check(): Promise<void> {
  try {
    await bucket.check();
    console.info('ready');
  } catch (error) {
    console.info(error instanceof StorageUnavailable ? error.advice : String(error));
  }
}

async function writeForever(): Promise<void> {
  for (let round = 0; ; round += 1) {
    const pieces = Array.from({ length: 40 }, () => Buffer.alloc(65_536, round));
    await bucket.write('victim', Readable.from(pieces), { content_type: 'image/png' });
    if (round === 0) console.info('first object written');
  }
}

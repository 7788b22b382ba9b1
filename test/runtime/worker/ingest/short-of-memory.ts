/** A process with less memory left than the image needs: prints the resulting error. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { sanitize } from '../../../../runtime/worker/ingest/sanitize.ts';

const MORE_BYTES = 100_000_000;
/** Takes 144 MB of samples. */
const SIDE = 6000;

const png = (side: number) =>
  sharp({ create: { width: side, height: side, channels: 4, background: '#80808080' } })
    .png({ compressionLevel: 1 })
    .toBuffer();
const [small, large] = [await png(8), await png(SIDE)];
// Loads everything that is loaded with the first image, before the limit is set.
await sanitize(small, 'image/png');
const dataBytes =
  Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
execFileSync('prlimit', ['--pid', String(process.pid), `--data=${dataBytes + MORE_BYTES}`]);
const error = await sanitize(large, 'image/png').then(
  () => new Error('it had enough'),
  (reason: Error) => reason,
);
process.stdout.write(`${error.name}: ${error.message}`);

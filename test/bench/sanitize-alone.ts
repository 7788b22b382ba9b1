/**
 * `node sanitize-alone.ts FILE… TYPE`: sanitizes uploads of one type, one after another, in a separate process. Prints
 * a line for each: the estimated memory, and the peak of the process until then.
 */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { sanitize } from '../../runtime/worker/ingest/sanitize.ts';

// The boot code of decoders is called with the program's own name, too.
const files = process.argv.slice(2, -1).filter((word) => word !== import.meta.url);
const contentType = process.argv.at(-1) ?? '';
// The settings of a decoder.
sharp.cache(false);
sharp.concurrency(1);
for (const file of files) {
  const estimates: number[] = [];
  await sanitize(readFileSync(file), contentType, ({ memory_bytes }) => {
    estimates.push(memory_bytes);
    return Promise.resolve(true);
  });
  const measured = { estimate_bytes: estimates[0] ?? 0, peak_bytes: peakBytes() };
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}

/**
 * Reads the kernel's value, because Node's maxRSS includes the peak of the process that started
 * this one.
 */
function peakBytes(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kibibytes) * 1024;
}

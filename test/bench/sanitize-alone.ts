/** Sanitizes one upload in a separate process, and prints the estimated and the actual memory. */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { sanitize } from '../../runtime/worker/ingest/sanitize.ts';

const [file = '', contentType = ''] = process.argv.slice(2);
// The settings of a decoder.
sharp.cache(false);
sharp.concurrency(1);
const estimates: number[] = [];
await sanitize(readFileSync(file), contentType, ({ memory_bytes }) => {
  estimates.push(memory_bytes);
  return Promise.resolve(true);
});
// Reads the kernel's value, because Node's maxRSS includes the peak of the process that started
// this one.
const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
const peak_bytes = Number(kibibytes) * 1024;
process.stdout.write(JSON.stringify({ estimate_bytes: estimates[0] ?? 0, peak_bytes }));

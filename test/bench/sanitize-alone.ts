/** Sanitizes one upload in a process of its own, which reports the estimated and the actual memory. */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { sanitize } from '../../runtime/worker/ingest/sanitize.ts';

const [file = '', contentType = ''] = process.argv.slice(2);
// The decoder's settings.
sharp.cache(false);
sharp.concurrency(1);
const estimates: number[] = [];
await sanitize(readFileSync(file), contentType, ({ memory_bytes }) => {
  estimates.push(memory_bytes);
  return Promise.resolve(true);
});
// Read from the kernel, which resets it for a new program; the value that Node reports is
// inherited.
const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
const peak_bytes = Number(kibibytes) * 1024;
process.stdout.write(JSON.stringify({ estimate_bytes: estimates[0] ?? 0, peak_bytes }));

/** One upload sanitized in a process of its own, which says what that was estimated to take of memory, and took. */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { sanitize } from '../../runtime/worker/ingest/sanitize.ts';

const [file = '', contentType = ''] = process.argv.slice(2);
// As the decoder has them.
sharp.cache(false);
sharp.concurrency(1);
const estimates: number[] = [];
await sanitize(readFileSync(file), contentType, ({ memory_bytes }) => {
  estimates.push(memory_bytes);
  return Promise.resolve(true);
});
// The kernel's own word, which begins anew with a program: the one that Node passes on is inherited.
const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
const peak_bytes = Number(kibibytes) * 1024;
process.stdout.write(JSON.stringify({ estimate_bytes: estimates[0] ?? 0, peak_bytes }));

/** Decodes and encodes one file once with sharp in a separate process, and prints the cost. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import sharp, { type FormatEnum } from 'sharp';

const [file = '', contentType = ''] = process.argv.slice(2);
sharp.cache(false);
sharp.concurrency(1);

const kind = contentType.slice('image/'.length);
const format = (kind === 'svg+xml' ? 'png' : kind) as keyof FormatEnum;
const options = { jpeg: { quality: 90 }, webp: { quality: 85, effort: 2 }, avif: { effort: 0 } };
const bytes = await readFile(file);
const before = process.cpuUsage();
await sharp(bytes, { limitInputPixels: false })
  .autoOrient()
  .toFormat(format, options[format as keyof typeof options])
  .toBuffer();
const { user, system } = process.cpuUsage(before);
// Reads the kernel's value, because Node's maxRSS includes the peak of the process that started
// this one.
const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
const peak_bytes = Number(kibibytes) * 1024;
process.stdout.write(JSON.stringify({ cpu_ms: (user + system) / 1000, peak_bytes }));

/** Renders one file repeatedly with sharp, as a simple server would, and prints by how many bytes the process grew. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';

const [file = '', width = '', count = ''] = process.argv.slice(2);
sharp.cache(false);
sharp.concurrency(1);
const memory = (name: string) =>
  Number(
    new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1],
  ) * 1024;

const rest = memory('VmRSS');
for (let at = 0; at < Number(count); at += 1) {
  const source = await readFile(file);
  await sharp(source)
    .resize(Number(width) - at)
    .jpeg({ quality: 80 })
    .toBuffer();
}
process.stdout.write(String(memory('VmHWM') - rest));

/** Starts a decoder that computes forever without reading its input, reports that, and waits to be killed. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { startEnclosed } from '../../../../runtime/worker/sandbox/spawn-decoder.ts';

const script = `require('fs').writeSync(3, 'up'); for (;;);`;
const child = startEnclosed(['-e', script, process.argv[2] ?? ''], {
  readable: [],
  data_bytes_max: 2_000_000_000,
});
await once(child.stdio[3] as Readable, 'data');
process.stdout.write('up');
setInterval(() => undefined, 60_000);

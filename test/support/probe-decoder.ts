/**
 * Starts a decoder like a worker does, and prints one line of JSON: what the decoder could do, and how the kernel
 * restricts it. Tests run it where some of the isolation programs are hidden.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { findIsolation } from '../../runtime/worker/sandbox/isolation.ts';
import { spawnDecoder } from '../../runtime/worker/sandbox/spawn-decoder.ts';

const entry = new URL('./probing-decoder.ts', import.meta.url);
const child = spawnDecoder({ memory_bytes: 1_000_000_000, entry });
const [, , errors, answers] = child.stdio;
(errors as Readable).pipe(process.stderr);
const [line] = await once(createInterface({ input: answers as Readable }), 'line');
const read = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8');
const status = Object.fromEntries(
  read('status')
    .split('\n')
    .map((each) => each.split(/:\s+/)),
);
const [, openFiles = ''] = /Max open files\s+(\d+)/.exec(read('limits')) ?? [];
const { filter, ...isolation } = findIsolation();
process.stdout.write(
  `${JSON.stringify({
    tried: JSON.parse(line),
    no_new_privileges: status['NoNewPrivs'] === '1',
    is_filtered: status['Seccomp'] === '2',
    open_files_max: Number(openFiles),
    said: { ...isolation, has_filter: filter !== null },
  })}\n`,
);
child.stdin?.end();

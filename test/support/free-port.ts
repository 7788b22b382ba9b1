/**
 * Finds ports for test servers. Each vitest worker has a range of 1,000 ports and uses them in turn, so that a free
 * port stays free until its server listens. The ranges are below the ports that Tintype and the kernel assign.
 */
import { randomInt } from 'node:crypto';
import { isFree } from '../../runtime/platform/http/free-port.ts';

const FIRST = 10_000;
const OF_A_WORKER = 1_000;
const WORKERS_MAX = 10;

const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS_MAX;
/** Random, because every test file of a worker loads this module anew. */
let last = randomInt(OF_A_WORKER);

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < OF_A_WORKER; attempt += 1) {
    last = (last + 1) % OF_A_WORKER;
    const port = FIRST + worker * OF_A_WORKER + last;
    if (await isFree(port)) return port;
  }
  throw new Error('no port of this worker is free');
}

/** Sends requests to a peer and measures the cost: CPU time of the whole process tree, latency and memory. */
import { Agent, request as sendRequest } from 'node:http';
import { measureTree, watchCpu } from '../process-tree.ts';
import type { Address } from './peers.ts';

export type Loaded = {
  cpu_ms: number;
  wall_ms: number;
  /** The latency of each response, in ascending order. */
  ms: number[];
  peak_bytes: number;
  /** The body of the last response. */
  body: Buffer;
};

const WATCH_MS = 50;

type Load = {
  addresses: readonly Address[];
  at_once: number;
  /**
   * False measures only before and after the load, because each sample takes milliseconds of this
   * process's time, and more with many processes.
   */
  is_watched?: boolean;
  /** How often a request is sent at most while it is answered 503 or 504; default once. */
  tries?: number;
};

/** Requests every address once, with `at_once` concurrent requests. */
export async function load(
  pid: number,
  { addresses, at_once, is_watched = true, tries = 1 }: Load,
): Promise<Loaded> {
  const agent = new Agent({ keepAlive: true, maxSockets: at_once });
  const peak = watchPeak(pid, is_watched);
  // Samples, because the counters of a decoder are lost when it is replaced.
  const cpu = watchCpu(pid, is_watched);
  const ms: number[] = [];
  const began = performance.now();
  const queue = [...addresses];
  let body: Buffer = Buffer.alloc(0);
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const startedAt = performance.now();
      body = await get(agent, next, tries);
      ms.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: at_once }, worker));
  const wall_ms = performance.now() - began;
  agent.destroy();
  const cpu_ms = cpu.stop();
  return { cpu_ms, wall_ms, ms: ms.toSorted((a, b) => a - b), peak_bytes: peak.stop(), body };
}

function watchPeak(pid: number, is_watched: boolean): { stop(): number } {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, measureTree(pid).pss_bytes);
  };
  look();
  const timer = is_watched ? setInterval(look, WATCH_MS) : undefined;
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return peak;
    },
  };
}

const BUSY = [503, 504];

function get(agent: Agent, address: Address, tries: number): Promise<Buffer> {
  const { port, path, host } = address;
  return new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host };
    sendRequest({ agent, host: '127.0.0.1', port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode === 200) resolve(Buffer.concat(chunks));
        else if (tries > 1 && BUSY.includes(statusCode)) resolve(get(agent, address, tries - 1));
        else reject(new Error(`${path} answered ${statusCode}: ${Buffer.concat(chunks)}`));
      });
    })
      .on('error', reject)
      .end();
  });
}

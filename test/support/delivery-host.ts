/**
 * A delivery server on a free port with a real database, content bucket and queue, and a render worker whose renders
 * are counted. The test controls the clock.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { printHelpLink } from '../../runtime/core/error-help/help-link.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeliveryOptions,
  type DeliveryProcess,
  startDelivery,
} from '../../runtime/delivery/serve.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createMetrics, type Metrics } from '../../runtime/platform/metrics.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createSealing, type Sealing } from '../../runtime/platform/sealing.ts';
import type { Bucket } from '../../runtime/platform/storage/bucket.ts';
import { createDerivedRenders } from '../../runtime/worker/render/render-derived.ts';
import { createRenderScheduler } from '../../runtime/worker/render/render-scheduler.ts';
import { createSandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import { openStack } from './delivery-stack.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { noteDelivered } from './seen.ts';

export const BASE_URL = 'http://api.test';
export const ROOT_DOMAIN = 'images.test';
export const sealing: Sealing = createSealing([{ id: 'test', key: Buffer.alloc(32, 5) }]);
const silent = createLog({ level: 'silent', name: 'test' });

export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer; code?: string };
export type Asking = { method?: string; headers?: Record<string, string | string[]> };

export type DeliveryHost = DeliveryProcess & {
  port: number;
  clock: ManualClock;
  queue: Queue;
  content: Bucket;
  metrics: Metrics;
  spool_folder: string;
  /** The results of all renders so far, in order. */
  renders: string[];
  /** `host` is a project's slug or a full host name. */
  get(host: string, path: string, asking?: Asking): Promise<Answer>;
  close(): Promise<void>;
};

export type HostOptions = Partial<DeliveryOptions> & {
  db: Queryable;
  /** The time limit of the render worker; 0 starts no render worker. */
  wall_clock_ms?: number;
  /** The bucket of the render worker. Default: the one of this host. */
  worker_content?: Bucket;
};

export async function startDeliveryHost(options: HostOptions): Promise<DeliveryHost> {
  const stack = await openStack();
  const spool_folder = options.spool_folder ?? mkdtempSync(join(tmpdir(), 'tintype-spool-'));
  const clock = createManualClock();
  const content = options.content ?? stack.content;
  const queue = options.queue ?? stack.asking;
  const metrics = createMetrics();
  const renders: string[] = [];
  const worker = startRenderWorker({
    db: options.db,
    queue: options.queue ?? stack.answering,
    content: options.worker_content ?? stack.content,
    renders,
    wall_clock_ms: options.wall_clock_ms ?? 30_000,
  });
  const delivery = startDelivery({
    clock,
    content,
    sealing,
    log: silent,
    metrics,
    queue,
    baseUrl: BASE_URL,
    rootDomain: ROOT_DOMAIN,
    memory_bytes: 64_000_000,
    ...options,
    spool_folder,
  });
  delivery.server.listen(0, '127.0.0.1');
  await once(delivery.server, 'listening');
  const { port } = delivery.server.address() as AddressInfo;
  return {
    ...delivery,
    port,
    clock,
    queue,
    content: stack.content,
    metrics,
    spool_folder,
    renders,
    get: async (host, path, asking) =>
      expectHelp(await ask(port, hostName(host), { path, ...asking })),
    close: async () => {
      await delivery.stop();
      await options.queue?.close();
      await stack.closeQueues();
      await (await worker)?.close();
      stack.remove();
      if (options.spool_folder === undefined) rmSync(spool_folder, { recursive: true });
    },
  };
}

async function startRenderWorker(of: {
  db: Queryable;
  queue: Queue;
  content: Bucket;
  renders: string[];
  wall_clock_ms: number;
}) {
  const { db, queue, content, renders, wall_clock_ms } = of;
  if (wall_clock_ms === 0) return undefined;
  const sandbox = createSandbox({
    slots: 1,
    wall_clock_ms,
    memory_bytes: 1_000_000_000,
    jobs_per_child: 1000,
    log: silent,
  });
  const derived = createDerivedRenders({
    db,
    content,
    sandbox,
    scheduler: createRenderScheduler({ slots: 1, waiting_max: 100, deadline_ms: 60_000 }),
    log: silent,
    wall_clock_ms,
    metrics: { render: ({ result }) => void renders.push(result) },
  });
  await queue.serve('render', { slots: 101, waiting_max: 0 }, derived.answer);
  return {
    close: async () => {
      await derived.drained();
      await sandbox.close();
    },
  };
}

/** Expects every error response to link to the page of its code. */
function expectHelp(answer: Answer): Answer {
  const { code, headers } = answer;
  if (code !== undefined) expect(headers.link).toBe(printHelpLink(BASE_URL, code));
  return answer;
}

function hostName(host: string): string {
  return host.includes('.') || host.includes(':') ? host : `${host}.${ROOT_DOMAIN}`;
}

export function ask(
  port: number,
  host: string,
  { path, method = 'GET', headers = {} }: { path: string } & Asking,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(
      { port, host: '127.0.0.1', path, method, headers: { host, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const body = Buffer.concat(chunks);
          const { statusCode: status = 0 } = response;
          const code = codeOf(body);
          noteDelivered({ method, path, status, code: code.code ?? null });
          resolve({ status, headers: response.headers, body, ...code });
        });
      },
    );
    request.on('error', reject);
    request.end();
  });
}

function codeOf(body: Buffer): { code?: string } {
  if (body[0] !== 0x7b) return {};
  return { code: JSON.parse(body.toString()).error.code };
}

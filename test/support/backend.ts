/**
 * Storage and queue for APIs and jobs in tests: by default folders and an in-process queue; after `onRealServers`,
 * buckets of versitygw and connections to RabbitMQ. The same suites run on both.
 */
import { randomBytes } from 'node:crypto';
import { createLog } from '../../runtime/platform/log.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../runtime/platform/queue/rabbitmq.ts';
import type { Buckets } from '../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../runtime/platform/storage/s3.ts';
import { type UsedServers, useRealServers } from './real-servers.ts';
import { createBucket } from './s3-server.ts';

export type Backend = { buckets: Buckets; queue: Queue };

let servers: UsedServers | undefined;
let isWanted = false;

/** Known when suites are collected, before any server starts. */
export const isOnRealServers = (): boolean => isWanted;

/** Returns undefined for the embedded backend. The caller closes the queue. */
export async function openBackend(): Promise<Backend | undefined> {
  if (servers === undefined) return undefined;
  const { broker, access, made } = servers.started();
  const open = async (name: string) => {
    made.push(await createBucket(access, `${name}-${randomBytes(4).toString('hex')}`));
    return createS3Bucket(access, made.at(-1) ?? '');
  };
  const buckets = { ingest: await open('ingest'), content: await open('content') };
  const log = createLog({ level: 'silent', name: 'test' });
  return { buckets, queue: await createRabbitQueue({ url: broker.url, log }) };
}

/**
 * Runs every suite of this test file on real servers. Returns a function that counts the objects in
 * their buckets.
 */
export function onRealServers(): () => Promise<number> {
  isWanted = true;
  const used = useRealServers(() => {
    servers = undefined;
  });
  servers = used;
  return async () => (await used.keys()).length;
}

/**
 * What APIs and jobs of the tests keep bytes in and ring with: folders and a queue of the process, or, in a test file
 * that calls `onRealServers`, buckets of versitygw and connections to RabbitMQ. Suites run unchanged on both.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { createLog } from '../../runtime/platform/log.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../runtime/platform/queue/rabbitmq.ts';
import type { Buckets } from '../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../runtime/platform/storage/s3.ts';
import type { S3Access } from '../../runtime/platform/storage/s3-client.ts';
import { type RabbitServer, startRabbitServer } from './rabbitmq-server.ts';
import { connectS3, createBucket, listKeys, type S3Server, startS3Server } from './s3-server.ts';

export type Backend = { buckets: Buckets; queue: Queue };
type Servers = { s3: S3Server; rabbit: RabbitServer; access: S3Access; made: string[] };

let servers: Servers | undefined;
let isWanted = false;

/** Known while suites are read. */
export const isOnRealServers = (): boolean => isWanted;

/** Undefined where the embedded ones are to be used. Whoever opens it closes its queue. */
export async function openBackend(): Promise<Backend | undefined> {
  if (servers === undefined) return undefined;
  const { rabbit, access, made } = servers;
  const open = async (name: string) => {
    made.push(await createBucket(access, `${name}-${randomBytes(4).toString('hex')}`));
    return createS3Bucket(access, made.at(-1) ?? '');
  };
  const buckets = { ingest: await open('ingest'), content: await open('content') };
  const log = createLog({ level: 'silent', name: 'test' });
  return { buckets, queue: await createRabbitQueue({ url: rabbit.url, log }) };
}

/** Every suite of this test file runs on real servers. Returns how many objects lie in their buckets. */
export function onRealServers(): () => Promise<number> {
  isWanted = true;
  beforeAll(async () => {
    const s3 = await startS3Server();
    const rabbit = await startRabbitServer().catch(async (error: unknown) => {
      await s3.stop();
      throw error;
    });
    servers = { s3, rabbit, access: connectS3(s3), made: [] };
  });
  afterAll(async () => {
    const started = servers;
    servers = undefined;
    started?.access.client.destroy();
    await Promise.all([started?.s3.stop(), started?.rabbit.stop()]);
  });
  return async () => {
    if (servers === undefined) throw new Error('the servers are there from beforeAll on');
    const { access, made } = servers;
    const lists = await Promise.all(made.map((name) => listKeys(access, name)));
    return lists.flat().length;
  };
}

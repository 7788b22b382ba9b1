/** Object storage and a broker for a test file: versitygw and RabbitMQ, and the buckets that were made there. */
import { afterAll, beforeAll } from 'vitest';
import type { S3Access } from '../../runtime/platform/storage/s3-client.ts';
import { type RabbitServer, startRabbitServer } from './rabbitmq-server.ts';
import { connectS3, listKeys, type S3Server, startS3Server } from './s3-server.ts';

export type RealServers = { s3: S3Server; rabbit: RabbitServer; access: S3Access; made: string[] };

export type UsedServers = {
  /** Throws before the first test and after the last. */
  started(): RealServers;
  /** Of all objects in the buckets that were made. */
  keys(): Promise<string[]>;
};

/** From before the first test of the file until after its last; `onEnd` before they stop. */
export function useRealServers(onEnd: () => void): UsedServers {
  let servers: RealServers | undefined;
  const started = () => {
    if (servers === undefined) throw new Error('the servers are there from beforeAll on');
    return servers;
  };
  beforeAll(async () => {
    const s3 = await startS3Server();
    const rabbit = await startRabbitServer().catch(async (error: unknown) => {
      await s3.stop();
      throw error;
    });
    servers = { s3, rabbit, access: connectS3(s3), made: [] };
  });
  afterAll(async () => {
    onEnd();
    const ended = servers;
    servers = undefined;
    ended?.access.client.destroy();
    await Promise.all([ended?.s3.stop(), ended?.rabbit.stop()]);
  });
  const keys = async () => {
    const { access, made } = started();
    return (await Promise.all(made.map((name) => listKeys(access, name)))).flat();
  };
  return { started, keys };
}

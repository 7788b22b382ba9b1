/** Object storage (versitygw) and a broker (RabbitMQ) for a test file, with the buckets created there. */
import { afterAll, beforeAll } from 'vitest';
import type { S3Access } from '../../runtime/platform/storage/s3-client.ts';
import { connectS3, listKeys, type S3Server, startS3Server } from './s3-server.ts';
import { type Broker, takeVirtualHost } from './shared-broker.ts';

export type RealServers = { s3: S3Server; broker: Broker; access: S3Access; made: string[] };

export type UsedServers = {
  /** Throws before the first test and after the last one. */
  started(): RealServers;
  /** The keys of all objects in these buckets. */
  keys(): Promise<string[]>;
};

/**
 * Starts the servers before the first test of the file and stops them after the last. `onEnd` runs
 * before they stop.
 */
export function useRealServers(onEnd: () => void): UsedServers {
  let servers: RealServers | undefined;
  const started = () => {
    if (servers === undefined) throw new Error('the servers are there from beforeAll on');
    return servers;
  };
  beforeAll(async () => {
    const broker = await takeVirtualHost();
    const s3 = await startS3Server();
    servers = { s3, broker, access: connectS3(s3), made: [] };
  });
  afterAll(async () => {
    onEnd();
    const ended = servers;
    servers = undefined;
    ended?.access.client.destroy();
    await ended?.s3.stop();
  });
  const keys = async () => {
    const { access, made } = started();
    return (await Promise.all(made.map((name) => listKeys(access, name)))).flat();
  };
  return { started, keys };
}

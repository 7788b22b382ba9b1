/**
 * Real servers instead of the embedded ones: versitygw instead of folders, RabbitMQ instead of the in-process queue.
 * Suites that call `onServers` run on them unchanged; every Tintype that they start gets new buckets.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import {
  connectS3,
  createBucket,
  listKeys,
  type S3Server,
  startS3Server,
} from '../../support/s3-server.ts';
import { type Broker, takeVirtualHost } from '../../support/shared-broker.ts';
import { setBackend } from './tintype.ts';

/** A bucket, its URL on this machine, and the key to it. */
export type TestBucket = { name: string; url: string; credentials: S3Server['credentials'] };

export type Servers = {
  s3: S3Server;
  broker: Broker;
  /** Creates two buckets and returns the environment variables for a process. */
  environment(): Promise<Record<string, string>>;
  /** Creates one more bucket. */
  bucket(name: string): Promise<TestBucket>;
  /** Counts the objects in all buckets created here by kind, the first part of their keys. */
  countObjects(): Promise<Record<string, number>>;
  stop(): Promise<void>;
};

/** `openBroker` is for programs other than test files, which share the run's broker. */
export async function startServers(openBroker = takeVirtualHost): Promise<Servers> {
  const s3 = await startS3Server();
  const broker = await openBroker().catch(async (error: unknown) => {
    await s3.stop();
    throw error;
  });
  const access = connectS3(s3);
  const made: string[] = [];
  const newBucket = async (name: string) => {
    made.push(name);
    return createBucket(access, name);
  };
  return {
    s3,
    broker,
    environment: async () => {
      const prefix = `contract-${randomBytes(4).toString('hex')}`;
      return {
        ...s3.environment,
        TINTYPE_AMQP_URL: broker.url,
        TINTYPE_INGEST_BUCKET: await newBucket(`${prefix}-ingest`),
        TINTYPE_CONTENT_BUCKET: await newBucket(`${prefix}-content`),
      };
    },
    bucket: async (name) => {
      const { endpoint, credentials } = s3;
      await createBucket(access, name);
      return { name, url: `${endpoint}/${name}`, credentials };
    },
    countObjects: async () => {
      const lists = await Promise.all(made.map((name) => listKeys(access, name)));
      const keys = lists.flat().map((key) => key.split('/', 1)[0] ?? '');
      return Object.fromEntries(
        [...new Set(keys)].map((kind) => [kind, keys.filter((each) => each === kind).length]),
      );
    },
    stop: async () => {
      access.client.destroy();
      await Promise.all([s3.stop(), broker.stop()]);
    },
  };
}

/**
 * Runs every `tintype up` of this test file on real servers, and returns a function for the
 * servers, which exist from the first test on.
 */
export function onServers(): () => Servers {
  let servers: Servers | undefined;
  beforeAll(async () => {
    const started = await startServers();
    servers = started;
    setBackend(() => started.environment());
  });
  afterAll(async () => {
    setBackend(undefined);
    await servers?.stop();
  });
  return () => {
    if (servers === undefined) throw new Error('the servers are there from beforeAll on');
    return servers;
  };
}

/**
 * Starts versitygw, a real S3 server, on a free loopback port with a temporary folder. bucket-contract.test.ts can use
 * another S3 instead, which TINTYPE_TEST_S3_ENDPOINT and the usual AWS variables select.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { systemClock } from '../../runtime/platform/clock.ts';
import { openS3, type S3Access, type S3Options } from '../../runtime/platform/storage/s3-client.ts';
import { freePort } from './free-port.ts';
import { untilServing } from './until-serving.ts';

export type S3Server = {
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** The environment variables by which a Tintype process uses the server. */
  environment: Record<string, string>;
  pid: number;
  stop(): Promise<void>;
};

/**
 * versitygw logs this as an error when a client disconnects within a body, which tests do on
 * purpose.
 */
const BROKEN_OFF = 'unexpected EOF';

export async function startS3Server(options: { eventUrl?: string } = {}): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-s3-'));
  for (const name of ['root', 'sidecar']) mkdirSync(join(folder, name));
  const port = await freePort();
  const credentials = { accessKeyId: 'tintype-test', secretAccessKey: 'tintype-test-secret' };
  const events = options.eventUrl === undefined ? [] : ['--event-webhook-url', options.eventUrl];
  const server = spawn(
    findVersitygw(),
    [
      ...['--port', `127.0.0.1:${port}`, '--health', '/health', '--quiet', ...events],
      ...['posix', '--sidecar', join(folder, 'sidecar'), join(folder, 'root')],
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        ROOT_ACCESS_KEY: credentials.accessKeyId,
        ROOT_SECRET_KEY: credentials.secretAccessKey,
      },
    },
  );
  createInterface({ input: server.stderr }).on('line', (line) => {
    if (!line.includes(BROKEN_OFF)) process.stderr.write(`versitygw: ${line}\n`);
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await untilServing(server, {
    name: 'versitygw',
    look: async () => (await fetch(`${endpoint}/health`).catch(() => undefined))?.ok,
    end: () => end(server),
  });
  return {
    endpoint,
    credentials,
    environment: {
      TINTYPE_S3_ENDPOINT: endpoint,
      TINTYPE_S3_FORCE_PATH_STYLE: 'true',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    pid: server.pid ?? 0,
    stop: async () => {
      await end(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a client as the product does. */
export function connectS3(
  { endpoint, credentials }: Pick<S3Server, 'endpoint' | 'credentials'>,
  more: Partial<S3Options> = {},
): S3Access {
  const usual = { region: 'us-east-1', addressing: 'path' as const, clock: systemClock };
  return openS3({ ...usual, endpoint, credentials, ...more });
}

export async function createBucket({ client }: S3Access, bucket: string): Promise<string> {
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return bucket;
}

/** Returns the first 1,000 keys of a bucket. */
export async function listKeys({ client }: S3Access, bucket: string): Promise<string[]> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key = '' }) => Key);
}

const OWN_TOOLS = fileURLToPath(new URL('../../.tools/bin', import.meta.url));

function findVersitygw(): string {
  const folders = [process.env.TINTYPE_TEST_TOOLS ?? OWN_TOOLS, OWN_TOOLS];
  const places = [...folders, ...(process.env.PATH ?? '').split(delimiter)];
  const found = places.map((folder) => join(folder, 'versitygw')).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error('versitygw, the S3 server of the tests, is not there: make test installs it');
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}

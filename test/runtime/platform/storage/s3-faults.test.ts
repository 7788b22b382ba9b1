// Failures before or instead of the storage's answer are outages: they never mean a missing, deleted or refused object.
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Bucket } from '../../../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../../../runtime/platform/storage/s3.ts';
import {
  connectS3,
  createBucket,
  type S3Server,
  startS3Server,
} from '../../../support/s3-server.ts';
import { makeSelfSigned } from '../../../support/self-signed.ts';
import {
  type StorageFaultKind,
  type StorageFaultProxy,
  type StorageOperation,
  startStorageFaultProxy,
} from '../../../support/storage-fault-proxy.ts';

const png = { content_type: 'image/png' };
const bytes = Buffer.from('bytes');
let s3: S3Server;
let proxy: StorageFaultProxy;
let straight: Bucket;
let bucket: Bucket;
let upload_id: string;

beforeAll(async () => {
  s3 = await startS3Server();
  proxy = await startStorageFaultProxy(s3.endpoint);
  await createBucket(connectS3(s3), 'faults');
  straight = createS3Bucket(connectS3(s3), 'faults');
  bucket = createS3Bucket(
    connectS3({ ...s3, endpoint: proxy.endpoint }, { attempts: 1 }),
    'faults',
  );
  await straight.write('a/key', bytes, png);
  upload_id = await straight.createMultipart('a/parts', png);
});
afterEach(() => proxy.set(undefined));
afterAll(async () => {
  await proxy.close();
  await s3.stop();
});

const parts = [{ part_number: 1, etag: '"0123456789abcdef0123456789abcdef"' }];
const calls: [StorageOperation, (through: Bucket) => Promise<unknown>][] = [
  ['head', (through) => through.head('a/key')],
  ['get', (through) => through.read('a/key')],
  ['get', (through) => through.open('a/key', { start: 0, end: 1 })],
  ['delete', (through) => through.delete('a/key')],
  ['put', (through) => through.write('a/key', bytes, png)],
  ['list', (through) => through.list({ prefix: '', limit: 10 })],
  ['createMultipart', (through) => through.createMultipart('a/new', png)],
  ['completeMultipart', (through) => through.completeMultipart('a/parts', { upload_id, parts })],
  ['abortMultipart', (through) => through.abortMultipart('a/parts', upload_id)],
  ['listMultiparts', (through) => through.listMultiparts({ prefix: '', limit: 10 })],
];

describe('a response that did not come from the storage', () => {
  const kinds: StorageFaultKind[] = ['status_404', 'status_302'];
  it.each(kinds.flatMap((kind) => calls.map(([operation, call]) => ({ kind, operation, call }))))(
    'is an outage: $kind to $operation',
    async ({ kind, operation, call }) => {
      proxy.set({ operation, kind });
      await expect(call(bucket)).rejects.toMatchObject({
        code: 'storage_unavailable',
        advice: expect.stringMatching(/^The bucket faults (answers with status|does not exist)/),
      });
      expect(proxy.hits()).toBeGreaterThan(0);
      expect(await straight.read('a/key')).toEqual(bytes);
      expect(await straight.listMultiparts({ prefix: '', limit: 10 })).toHaveLength(1);
    },
  );
});

it('an object or multipart upload that S3 reports as missing counts as missing', async () => {
  expect(await straight.read('a/nothing')).toBeUndefined();
  await straight.delete('a/nothing');
  const gone = await straight.createMultipart('a/gone', png);
  await straight.abortMultipart('a/gone', gone);
  await straight.abortMultipart('a/gone', gone);
  const completing = straight.completeMultipart('a/gone', { upload_id: gone, parts });
  await expect(completing).rejects.toMatchObject({ code: 'multipart_complete_failed' });
});

it('a part list that S3 rejects after it has begun its response is still reported as rejected', async () => {
  const gone = await straight.createMultipart('a/gone', png);
  await straight.abortMultipart('a/gone', gone);
  const complete = (key: string, id: string) =>
    bucket.completeMultipart(key, { upload_id: id, parts });
  proxy.set({ operation: 'completeMultipart', kind: 'begun' });
  await expect(complete('a/gone', gone)).rejects.toMatchObject({
    code: 'multipart_complete_failed',
  });
  await expect(complete('a/parts', upload_id)).rejects.toMatchObject({ code: 'invalid_parts' });
  expect(proxy.hits()).toBe(2);
});

it.each([
  [
    'accessKeyId',
    /cannot be used with credentials that a header cannot carry, .*AWS_ACCESS_KEY_ID/,
  ],
  ['secretAccessKey', /refuses (access|the secret key): check .*AWS_SECRET_ACCESS_KEY/],
] as const)(
  'a line break after the %s is an outage, and the advice names the variable',
  async (half, advice) => {
    const credentials = { ...s3.credentials, [half]: `${s3.credentials[half]}\n` };
    const refused = createS3Bucket(connectS3({ ...s3, credentials }, { attempts: 1 }), 'faults');
    for (const [, call] of calls) {
      await expect(call(refused)).rejects.toMatchObject({
        code: 'storage_unavailable',
        advice: expect.stringMatching(advice),
      });
    }
  },
);

it('every call reports a wrong machine clock, even if its response has no body', async () => {
  for (const [, call] of calls) {
    const asking = createS3Bucket(connectS3(s3, { attempts: 1 }), 'faults');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const fault = await call(asking).catch((error: unknown) => error);
    vi.useRealTimers();
    expect(fault).toMatchObject({
      code: 'storage_unavailable',
      advice: 'The bucket faults says that the clock of this machine is wrong: set it (NTP).',
    });
  }
});

describe('a failed connection to S3', () => {
  const adviceOf = async (endpoint: string): Promise<unknown> => {
    const away = createS3Bucket(connectS3({ ...s3, endpoint }, { attempts: 1 }), 'faults');
    const faults = await Promise.all(
      calls.map(([, call]) => call(away).catch((error: unknown) => error)),
    );
    const advices = new Set(faults.map((fault) => (fault as { advice?: string }).advice));
    expect(advices.size).toBe(1);
    return [...advices][0];
  };

  it.each([
    ['localhost', 'nobody trusts', 'shows a certificate that is not trusted: name its authority'],
    ['elsewhere.example', 'we trust', 'shows the certificate of another host: check TINTYPE_S3_'],
  ])('names the problem with a certificate of %s that %s', async (host, trust, advice) => {
    const signed = makeSelfSigned(host);
    const server = createTlsServer(signed);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const trusted = getCACertificates('default');
    if (trust === 'we trust') setDefaultCACertificates([...trusted, signed.cert]);
    try {
      expect(await adviceOf(`https://localhost:${port}`)).toContain(advice);
    } finally {
      setDefaultCACertificates(trusted);
      server.close();
    }
  });

  it.each(['http', 'https'])(
    'over %s to a server of another protocol names TINTYPE_S3_ENDPOINT',
    async (scheme) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined).end('220 mail.example ESMTP\r\n');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      expect(await adviceOf(`${scheme}://127.0.0.1:${port}`)).toMatch(
        /^The bucket faults cannot be reached \((HPE_\w+|EPROTO)\): check TINTYPE_S3_ENDPOINT/,
      );
      server.close();
    },
  );
});

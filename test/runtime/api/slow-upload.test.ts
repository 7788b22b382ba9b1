// Spec: Uploads (PUT proxy.put_url). A body that arrives too slowly, or never, with both storages.
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { UploadRecord } from '../../../runtime/core/resources/upload.ts';
import type { Bucket } from '../../../runtime/platform/storage/bucket.ts';
import { useS3Ingest } from '../../support/s3-ingest.ts';
import { useUploads } from '../../support/upload-refusals.ts';

const uploads = useUploads();
const { api, owner, home, make, rowOf } = uploads;
const SIZE = 500_000;
const s3Ingest = useS3Ingest();

/**
 * Sends this many bytes of the body and then nothing. Returns all that the server answered before
 * it closed the connection.
 */
async function stall({ proxy }: UploadRecord, bytes: number): Promise<string> {
  const { port, pathname, search } = new URL(proxy?.put_url ?? '');
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `PUT ${pathname}${search} HTTP/1.1\r\nhost: x\r\ncontent-type: image/png\r\ncontent-length: ${SIZE}\r\n\r\n`,
  );
  socket.write(Buffer.alloc(bytes));
  return text(socket);
}

describe.each([
  ['folder storage', () => api.deps().buckets.ingest],
  ['versitygw', s3Ingest],
] as const)('a proxy PUT on %s', (_name, bucketOf) => {
  it.each([
    ['trickles', 3000],
    ['never arrives', 0],
  ])(
    'is rejected with its rate and the minimum rate if its body %s, stores nothing and can be repeated',
    async (_how, bytes) => {
      const ingest = bucketOf();
      const buckets = { ...api.deps().buckets, ingest };
      api.change({ buckets, uploadRate: { bytes_min: 100_000, window_seconds: 0.5 } });
      const upload = await make({ mode: 'proxy', size_bytes: SIZE });
      const [head = '', body = ''] = (await stall(upload, bytes)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 400 /);
      expect(head.toLowerCase()).toContain('\r\nconnection: close');
      const { error } = JSON.parse(body);
      const rate = {
        bytes_per_second: bytes * 2,
        min_bytes_per_second: 100_000,
        window_seconds: 0.5,
      };
      expect(error).toMatchObject({
        code: 'invalid_request',
        details: { issues: [{ path: 'body', ...rate }] },
      });
      expect(error.message).toMatch(
        /too slowly: \d+ bytes per second.* 100000 .*send the whole body again/,
      );
      await expectNothing(ingest, upload);
      // Latency alerts exclude uploads by this route.
      const { text: measured } = await api.deps().metrics.print();
      expect(measured).toContain('{le="0.5",method="PUT",route="/v1/uploads/:id",status="400"}');
      api.change({ buckets });
      const { pathname, search } = new URL(upload.proxy?.put_url ?? '');
      const headers = { 'content-type': 'image/png' };
      const raw = Buffer.alloc(SIZE);
      const sent = await api.send({ method: 'PUT', path: pathname + search, raw, headers });
      expect(sent.status).toBe(204);
    },
  );
});

async function expectNothing(ingest: Bucket, upload: UploadRecord): Promise<void> {
  const { ingest_key } = await rowOf(upload);
  expect(await ingest.head(ingest_key)).toBeUndefined();
  expect(await ingest.listMultiparts({ prefix: ingest_key, limit: 1 })).toEqual([]);
  const files = await readdir(api.ingestFolder(), { recursive: true, withFileTypes: true });
  const left = files.filter((file) => file.isFile() && !file.parentPath.includes('.multipart'));
  expect(left.map(({ name }) => name).filter((name) => !/^upl_/.test(name))).toEqual([]);
  const now = await owner('GET', `${home.path}/uploads/${upload.upload_id}`);
  expect(now.body.status).toBe('created');
}

// Spec: Upload session (status), a multipart complete: what storage holds decides, whatever it answered.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import type { UploadRecord } from '../../../../runtime/core/resources/upload.ts';
import { updateUploadExpired } from '../../../../runtime/db/upload-ends.ts';
import { jobs } from '../../../../runtime/jobs/table.ts';
import { noCdn } from '../../../../runtime/platform/cdn/cdn.ts';
import type { Bucket } from '../../../../runtime/platform/storage/bucket.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { closeHttp } from '../../../support/close-http.ts';
import { useS3Ingest } from '../../../support/s3-ingest.ts';
import { connectS3 } from '../../../support/s3-server.ts';

const MIB = 2 ** 20;
const api = useApi();
const owner = api.session(newSubject());
/** The smallest first part, and a short last one. */
const bytes = randomBytes(5 * MIB + 1000);
const storage = { fault: 'none' as StorageFault, target: 0, port: 0 };
let project: ProjectRecord;
let path: string;
let call: Caller;
/** A proxy in front of storage that injects faults into CompleteMultipartUpload. */
const between = createServer((incoming, answer) => {
  forward(incoming, answer).catch(() => answer.destroy());
});

const s3Ingest = useS3Ingest(async (s3) => {
  storage.target = Number(new URL(s3.endpoint).port);
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  return connectS3({ ...s3, endpoint }, { attempts: 1 });
});

beforeAll(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/uploads`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
});
afterAll(() => closeHttp(between));

type StorageFault = 'none' | 'reply_lost' | 'error_with_200' | 'error_with_200_after_effect';

const ERROR_BODY =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>try again</Message></Error>';

async function forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const isComplete = incoming.method === 'POST' && incoming.url?.includes('uploadId=') === true;
  const fault = isComplete ? storage.fault : 'none';
  const body = await buffer(incoming);
  const { method, url, headers } = incoming;
  if (fault === 'error_with_200') return void answer.end(ERROR_BODY);
  const sent = request({ host: '127.0.0.1', port: storage.target, method, path: url, headers });
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end(body);
  });
  const bytesOfReply = await buffer(reply);
  if (fault === 'reply_lost') return void answer.destroy();
  if (fault === 'error_with_200_after_effect') return void answer.end(ERROR_BODY);
  answer.writeHead(reply.statusCode ?? 0, reply.headers).end(bytesOfReply);
}

type Part = { part_number: number; etag: string };

async function begin(ingest: Bucket, settings: object = {}): Promise<UploadRecord> {
  api.change({
    buckets: { ...api.deps().buckets, ingest },
    settings: { ingestMaxBytes: 100 * MIB },
  });
  const input = { content_type: 'image/png', size_bytes: bytes.length, parts: 2, ...settings };
  const { status, body } = await call('POST', path, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function send({ multipart }: UploadRecord): Promise<Part[]> {
  const { part_size = 0, parts = [] } = multipart ?? {};
  return Promise.all(
    parts.map(async ({ part_number, url }) => {
      const body = bytes.subarray((part_number - 1) * part_size, part_number * part_size);
      const answer = await fetch(url, { method: 'PUT', body: new Uint8Array(body) });
      expect(answer.status).toBe(200);
      return { part_number, etag: answer.headers.get('etag') ?? '' };
    }),
  );
}

const complete = ({ upload_id }: UploadRecord, parts?: Part[]) =>
  call('POST', `${path}/${upload_id}/complete`, parts && { parts });
const abort = ({ upload_id }: UploadRecord) => call('POST', `${path}/${upload_id}/abort`);
const statusOf = async ({ upload_id }: UploadRecord): Promise<string> =>
  (await call('GET', `${path}/${upload_id}`)).body.status;

async function sweep(ingest: Bucket) {
  const { db, queue, clock, log } = api.deps();
  await db.query(`update uploads set created_at = created_at - interval '1 minute'`);
  return jobs['upload-sweep'].run({
    ...{ db, queue, clock, log, cdn: noCdn, run: 'test', at: clock.now() },
    buckets: { ...api.deps().buckets, ingest },
    signal: new AbortController().signal,
  });
}

async function reservedBytes(): Promise<number> {
  const query = 'select reserved_bytes from projects where project_id = $1';
  const [row] = await api.db.query<{ reserved_bytes: number }>(query, [project.project_id]);
  return row?.reserved_bytes ?? -1;
}

describe('a multipart upload with a storage fault', () => {
  it.each(['reply_lost', 'error_with_200_after_effect'] as const)(
    'is uploaded if storage joined its parts, even if it then answered with %s',
    async (fault) => {
      const upload = await begin(s3Ingest());
      const parts = await send(upload);
      storage.fault = fault;
      const answer = await complete(upload, parts);
      storage.fault = 'none';
      expect([answer.status, answer.body.status]).toEqual([200, 'uploaded']);
    },
  );

  it('returns 503 storage_unavailable, and stays completable, if storage answers 200 with an error', async () => {
    const upload = await begin(s3Ingest());
    const parts = await send(upload);
    storage.fault = 'error_with_200';
    expect(codeOf(await complete(upload, parts))).toBe('503 storage_unavailable');
    storage.fault = 'none';
    expect(await statusOf(upload)).toBe('created');
    expect(codeOf(await complete(upload, parts))).toBe('200');
  });
});

describe.each([
  ['folder storage', () => api.deps().buckets.ingest],
  ['versitygw', s3Ingest],
] as const)('a multipart upload on %s', (_name, ingest) => {
  it.each(['the next call', 'the sweep'])(
    'is completed by %s if the process was killed after its parts were joined',
    async (finisher) => {
      const upload = await begin(ingest());
      const parts = await send(upload);
      const failpoint = (name: string) => {
        if (name === 'complete.before_commit') throw new Error('killed');
      };
      api.change({ buckets: { ...api.deps().buckets, ingest: ingest() }, failpoint });
      expect((await complete(upload, parts)).status).toBe(500);
      expect(await statusOf(upload)).toBe('created');
      api.change({ buckets: { ...api.deps().buckets, ingest: ingest() } });
      if (finisher === 'the next call') expect(codeOf(await complete(upload, parts))).toBe('200');
      else expect(await sweep(ingest())).toMatchObject({ completed: 1 });
      expect(await statusOf(upload)).toBe('uploaded');
      expect(codeOf(await complete(upload, parts))).toBe('200');
    },
  );

  it('returns 410 upload_expired if it was aborted while its parts were being joined', async () => {
    const bucket = ingest();
    const refusing = {
      ...bucket,
      completeMultipart: async (...call: Parameters<Bucket['completeMultipart']>) => {
        expect((await abort(upload)).status).toBe(200);
        return bucket.completeMultipart(...call);
      },
    };
    const upload = await begin(refusing);
    const completed = await complete(upload, await send(upload));
    expect(codeOf(completed)).toBe('410 upload_expired');
    expect(await statusOf(upload)).toBe('expired');
  });

  it('ends in exactly one way with concurrent complete, abort and expiry, and frees its space if expired', async () => {
    for (let round = 0; round < 6; round += 1) {
      const before = await reservedBytes();
      const upload = await begin(ingest());
      const parts = await send(upload);
      const soon = `update uploads set expires_at = now() + interval '3 milliseconds' where upload_id = $1`;
      await api.db.query(soon, [upload.upload_id]);
      const expire = api.db.transaction((tx) => updateUploadExpired(tx, upload.upload_id));
      const [completed, aborted] = await Promise.all([
        complete(upload, parts),
        abort(upload),
        expire,
      ]);
      const status = await statusOf(upload);
      const codes = [codeOf(completed), codeOf(aborted)];
      const isUploaded = status === 'uploaded';
      expect(codes).toEqual(
        isUploaded ? ['200', '409 upload_not_pending'] : ['410 upload_expired', '200'],
      );
      expect(await reservedBytes()).toBe(before + (isUploaded ? bytes.length : 0));
    }
  });

  it('can have 10,000 parts, but no more; they can be re-signed, and their list is validated', async () => {
    const size_bytes = 10_000 * 5 * MIB;
    api.change({
      buckets: { ...api.deps().buckets, ingest: ingest() },
      settings: { ingestMaxBytes: size_bytes },
      plans: { trial: { credits: 1, granted: 'once', storage_bytes: size_bytes * 2 } },
    });
    const input = { content_type: 'image/png', size_bytes, parts: 10_000 };
    const { status, body } = await call('POST', path, input);
    expect(status).toBe(201);
    expect(body.multipart.parts).toHaveLength(10_000);
    expect(body.multipart.part_size).toBe(5 * MIB);
    const again = await call('POST', `${path}/${body.upload_id}/parts`);
    expect(again.body.parts).toHaveLength(10_000);
    const etag = `"${'0'.repeat(32)}"`;
    const parts = Array.from({ length: 10_000 }, (_, index) => ({ part_number: index + 1, etag }));
    expect(codeOf(await complete(body, parts))).toBe('400 invalid_parts');
    expect((await abort(body)).status).toBe(200);
    expect(codeOf(await call('POST', path, { ...input, parts: 10_001 }))).toBe(
      '400 invalid_request',
    );
  });
});

// Spec: Uploads; Authentication, Rules; Limits, Uploads.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { type UploadRecord, uploadRecord } from '../../../../runtime/core/resources/upload.ts';
import { signUploadUrl } from '../../../../runtime/core/signing/upload-url.ts';
import type { Transaction } from '../../../../runtime/db/client.ts';
import { updateUploadAborted } from '../../../../runtime/db/upload-ends.ts';
import { findUpload } from '../../../../runtime/db/uploads.ts';
import { StorageUnavailable } from '../../../../runtime/platform/storage/bucket.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  newSubject,
} from '../../../support/api-client.ts';
import { PROXY_BYTES_MAX, useApi } from '../../../support/api-server.ts';
import { type DatabaseClock, takeDatabaseClock } from '../../../support/database-clock.ts';
import { untilWaiting } from '../../../support/lock-waits.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { id, must } from '../../../support/rows.ts';
import { noteSeen } from '../../../support/seen.ts';
import { sendOn } from '../../../support/send-on.ts';

const api = useApi();
const owner = api.session(newSubject());
const bytes = Buffer.from('bytes that go through the service');
const PNG = { 'content-type': 'image/png' };
let project: ProjectRecord;
let path: string;
let call: Caller;
let clock: DatabaseClock;

beforeAll(async () => {
  clock = await takeDatabaseClock(api.databaseUrl(), api.db);
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/uploads`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
});

afterEach(() => clock.release());

async function create(settings: object = {}): Promise<UploadRecord> {
  const input = { content_type: 'image/png', size_bytes: bytes.length, mode: 'proxy', ...settings };
  const { status, body } = await call('POST', path, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

type Put = { url: string; body?: Buffer; headers?: Record<string, string>; method?: string };
type Answer = { status: number; code: string; headers: IncomingMessage['headers']; body: string };

async function put({ url, body = bytes, headers = PNG, method = 'PUT' }: Put): Promise<Answer> {
  const outgoing = httpRequest(url, { method, headers, agent: false });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [response] = await answered;
  const status = response.statusCode ?? 0;
  const answer = await text(response);
  const code = answer === '' ? null : JSON.parse(answer).error.code;
  noteSeen({ method, path: new URL(url).pathname, status, code });
  return {
    status,
    code: code === null ? `${status}` : `${status} ${code}`,
    headers: response.headers,
    body: answer,
  };
}

const urlOf = ({ proxy }: UploadRecord) => proxy?.put_url ?? '';
const statusOf = async ({ upload_id }: UploadRecord) =>
  (await call('GET', `${path}/${upload_id}`)).body.status;
const ingest = () => api.deps().buckets.ingest;
const keyOf = async ({ upload_id }: UploadRecord) =>
  must(await findUpload(api.db, upload_id)).ingest_key;

/** Resolves when storage receives the bytes of the next upload: by then, its PUT was accepted. */
function writeBegins(): Promise<void> {
  const { buckets } = api.deps();
  const begun = Promise.withResolvers<void>();
  const write: typeof buckets.ingest.write = (...upload) => {
    api.change({ buckets });
    begun.resolve();
    return buckets.ingest.write(...upload);
  };
  api.change({ buckets: { ...buckets, ingest: { ...buckets.ingest, write } } });
  return begun.promise;
}

describe('a proxy session', () => {
  it('lasts 15 minutes and has the URL as its only way to send the bytes', async () => {
    const upload = await create();
    expectRecord(uploadRecord, upload);
    expect(upload).toMatchObject({ mode: 'proxy', status: 'created' });
    expect([upload.direct, upload.multipart]).toEqual([undefined, undefined]);
    expect(urlOf(upload)).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/v1\/uploads\/upl_\w+\?exp=\d+&sig=[\w-]+$/,
    );
    expect(Date.parse(upload.expires_at) - Date.parse(upload.created_at)).toBe(900_000);
  });

  it('returns 413 proxy_upload_too_large above the proxy limit, file_too_large above the upload limit', async () => {
    api.change({ settings: { ingestMaxBytes: PROXY_BYTES_MAX * 2 } });
    const input = { content_type: 'image/png', mode: 'proxy' };
    expect((await call('POST', path, { ...input, size_bytes: PROXY_BYTES_MAX })).status).toBe(201);
    const over = await call('POST', path, { ...input, size_bytes: PROXY_BYTES_MAX + 1 });
    expect(codeOf(over)).toBe('413 proxy_upload_too_large');
    expect(over.body.error.details).toEqual({ max_bytes: PROXY_BYTES_MAX, mode: 'proxy' });
    const wayOver = await call('POST', path, { ...input, size_bytes: PROXY_BYTES_MAX * 2 + 1 });
    expect(codeOf(wayOver)).toBe('413 file_too_large');
  });
});

describe('PUT proxy.put_url', () => {
  it('returns 204, stores the bytes and completes the session', async () => {
    const upload = await create({ sha256: createHash('sha256').update(bytes).digest('hex') });
    const answer = await put({ url: urlOf(upload) });
    expect([answer.code, answer.body]).toEqual(['204', '']);
    expect(await statusOf(upload)).toBe('uploaded');
    const stored = await ingest().read(await keyOf(upload));
    expect(stored?.equals(bytes)).toBe(true);
  });

  it('returns 401 invalid_signature for any altered URL, stores nothing and asks no database', async () => {
    const upload = await create();
    const other = await create();
    const url = urlOf(upload);
    const asked: string[] = [];
    const query: typeof api.db.query = (text, values) => {
      asked.push(text);
      return api.db.query(text, values);
    };
    api.change({ db: { ...api.db, query } });
    const altered = [
      url.replace(/exp=\d/, 'exp=9'),
      url.slice(0, -1) + (url.endsWith('A') ? 'B' : 'A'),
      url.replace(upload.upload_id, other.upload_id),
      `${url}&sig=x`,
      `${url}&x=1`,
      url.split('?')[0] ?? '',
      url.replace(/&sig=.*/, ''),
      url.replace(/sig=/, 'sig=%41'),
      url.replace(/(exp=\d+)&(sig=[\w-]+)$/, '$2&$1'),
      url.replace('?exp=', '?e%78p='),
      url.replace(/exp=1/, 'exp=%31'),
    ];
    for (const each of altered) {
      expect((await put({ url: each })).code, each).toBe('401 invalid_signature');
    }
    expect(asked).toEqual([]);
    expect(await ingest().head(await keyOf(upload))).toBeUndefined();
    expect((await put({ url })).code).toBe('204');
    expect(asked).not.toEqual([]);
  });

  it.each([
    ['right', 0],
    ['20 minutes ahead', 1200],
    ['20 minutes behind', -1200],
  ])(
    'returns 401 signature_expired by the database’s clock if the process clock is %s',
    async (_name, seconds) => {
      const own = createManualClock();
      own.advance(seconds);
      api.change({ clock: own });
      const [sent, waiting] = [await create(), await create()];
      await clock.setToExpiry(sent.upload_id, -1);
      expect((await put({ url: urlOf(sent) })).code).toBe('204');
      await clock.setToExpiry(waiting.upload_id, 0);
      for (const upload of [sent, waiting]) {
        expect((await put({ url: urlOf(upload) })).code).toBe('401 signature_expired');
      }
      expect(await ingest().head(await keyOf(waiting))).toBeUndefined();
    },
  );

  it('returns 404 upload_not_found if its session does not exist', async () => {
    const { uploadBaseUrl, uploadUrlKeys } = api.deps().addresses;
    const upload_id = id('upl');
    for (const exp of [1_800_000_000, 1_600_000_000]) {
      const sig = signUploadUrl({ key: must(uploadUrlKeys[0]), upload_id, exp });
      const url = `${uploadBaseUrl}/v1/uploads/${upload_id}?exp=${exp}&sig=${sig}`;
      expect((await put({ url })).code).toBe('404 upload_not_found');
    }
  });

  it('rejects a client that is still sending, and keeps its connection open', async () => {
    const url = `${urlOf(await create())}x`;
    const statuses = await sendOn({ url, headers: PNG, bytes: Buffer.alloc(5_000_000) });
    expect(statuses).toEqual([401, 200]);
  });

  it('returns 411 without a length, 413 for a larger body and 409 for a smaller one than declared', async () => {
    const upload = await create();
    const url = urlOf(upload);
    const chunked = { ...PNG, 'transfer-encoding': 'chunked' };
    expect((await put({ url, headers: chunked })).code).toBe('411 length_required');
    const more = await put({ url, body: Buffer.concat([bytes, bytes]) });
    expect(more.code).toBe('413 payload_too_large');
    expect(JSON.parse(more.body).error.details).toEqual({ max_bytes: bytes.length });
    expect((await put({ url, body: bytes.subarray(1) })).code).toBe('409 ingest_size_mismatch');
    expect(await statusOf(upload)).toBe('created');
    expect((await put({ url })).code).toBe('204');
  });

  it('returns 415 content_type_mismatch for another type or none', async () => {
    const upload = await create();
    for (const headers of [
      { 'content-type': 'image/jpeg' },
      { 'content-type': 'image/png; a=b' },
      {},
    ]) {
      const answer = await put({ url: urlOf(upload), headers: headers as Record<string, string> });
      expect(answer.code).toBe('415 content_type_mismatch');
      expect(answer.body).toContain('image/png');
    }
    expect((await put({ url: urlOf(upload) })).code).toBe('204');
  });

  it('returns 409 upload_not_pending once the bytes were accepted or the session was aborted', async () => {
    const [sent, aborted] = [await create(), await create()];
    await put({ url: urlOf(sent) });
    expect((await put({ url: urlOf(sent) })).code).toBe('409 upload_not_pending');
    await call('POST', `${path}/${aborted.upload_id}/abort`);
    expect((await put({ url: urlOf(aborted) })).code).toBe('409 upload_not_pending');
  });

  it('returns 403 project_suspended while the project is suspended', async () => {
    const mine = await createProject(owner);
    const there = `/v1/projects/${mine.project_slug}`;
    const input = { content_type: 'image/png', size_bytes: bytes.length, mode: 'proxy' };
    const { body } = await owner('POST', `${there}/uploads`, input);
    await owner('PATCH', there, { status: 'suspended' });
    expect((await put({ url: urlOf(body) })).code).toBe('403 project_suspended');
  });

  it('returns 422 sha256_mismatch if the bytes differ from the digest, and can be repeated', async () => {
    const upload = await create({ sha256: '0'.repeat(64) });
    expect((await put({ url: urlOf(upload) })).code).toBe('422 sha256_mismatch');
    expect(await statusOf(upload)).toBe('created');
    expect((await put({ url: urlOf(upload) })).code).toBe('422 sha256_mismatch');
  });

  it('returns 503 storage_unavailable while storage is unavailable, and can be repeated', async () => {
    const upload = await create();
    const { buckets } = api.deps();
    const write = () => Promise.reject(new StorageUnavailable('gone'));
    api.change({ buckets: { ...buckets, ingest: { ...buckets.ingest, write } } });
    expect((await put({ url: urlOf(upload) })).code).toBe('503 storage_unavailable');
    api.change({ buckets });
    expect((await put({ url: urlOf(upload) })).code).toBe('204');
  });

  it('does not complete the session of a client that disconnects halfway, which can send again', async () => {
    const upload = await create({ size_bytes: 500_000 });
    const { port, pathname, search } = new URL(urlOf(upload));
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nhost: x\r\ncontent-type: image/png\r\ncontent-length: 500000\r\n\r\n`,
    );
    const began = writeBegins();
    socket.write(Buffer.alloc(300_000));
    await began;
    socket.destroy();
    await expect.poll(() => statusOf(upload)).toBe('created');
    // Object storage may keep the partial object, which never has the declared size.
    const kept = await ingest().head(await keyOf(upload));
    expect(kept?.size_bytes ?? 0).toBeLessThanOrEqual(300_000);
    const completed = await call('POST', `${path}/${upload.upload_id}/complete`);
    expect(codeOf(completed)).toMatch(/^409 ingest_(object_missing|size_mismatch)$/);
    expect((await put({ url: urlOf(upload), body: Buffer.alloc(500_000) })).code).toBe('204');
  });

  it('answers Expect: 100-continue with 100 or with the error, before the bytes are sent', async () => {
    const asked = async (url: string) => {
      const headers = { ...PNG, 'content-length': String(bytes.length), expect: '100-continue' };
      const outgoing = httpRequest(url, { method: 'PUT', headers, agent: false });
      const first = Promise.race([
        once(outgoing, 'continue').then(() => 'continue'),
        once(outgoing, 'response').then(([response]) => `${response.statusCode}`),
      ]);
      outgoing.flushHeaders();
      const said = await first;
      if (said === 'continue') {
        outgoing.end(bytes);
        const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
        return `${said} ${response.statusCode}`;
      }
      outgoing.destroy();
      return said;
    };
    const upload = await create();
    expect(await asked(`${urlOf(upload)}x`)).toBe('401');
    expect(await asked(urlOf(upload))).toBe('continue 204');
  });

  it('stores the complete bytes of one of two concurrent requests', async () => {
    const upload = await create({ size_bytes: 200_000 });
    const bodies = [Buffer.alloc(200_000, 1), Buffer.alloc(200_000, 2)];
    const answers = await Promise.all(bodies.map((body) => put({ url: urlOf(upload), body })));
    expect(answers.map(({ code }) => code)).toContain('204');
    const stored = must(await ingest().read(await keyOf(upload)));
    expect(bodies.some((body) => body.equals(stored))).toBe(true);
    expect(await statusOf(upload)).toBe('uploaded');
  });

  it('is accepted if it began in time and ends after the session expired', async () => {
    const upload = await create();
    const outgoing = httpRequest(urlOf(upload), {
      method: 'PUT',
      headers: { ...PNG, 'content-length': String(bytes.length) },
      agent: false,
    });
    const began = writeBegins();
    outgoing.write(bytes.subarray(0, 5));
    await began;
    await api.db.query(
      `update uploads set expires_at = now() - interval '1 second' where upload_id = $1`,
      [upload.upload_id],
    );
    outgoing.end(bytes.subarray(5));
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(204);
    expect(await statusOf(upload)).toBe('uploaded');
  });

  it.each<[string, string, (tx: Transaction, uploadId: string) => Promise<unknown>]>([
    ['an abort', '409 upload_not_pending', updateUploadAborted],
    [
      'time',
      '401 signature_expired',
      (tx, uploadId) =>
        tx.query(
          `update uploads set expires_at = now() - interval '1 second' where upload_id = $1`,
          [uploadId],
        ),
    ],
  ])(
    'stores nothing if %s ended the session while the request was being admitted',
    async (_, code, end) => {
      const upload = await create();
      const { answered } = await api.db.transaction(async (tx) => {
        await end(tx, upload.upload_id);
        const putting = put({ url: urlOf(upload) });
        await untilWaiting(api.db, 1);
        return { answered: putting };
      });
      expect((await answered).code).toBe(code);
      expect(await ingest().head(await keyOf(upload))).toBeUndefined();
    },
  );
});

describe('CORS for upload URLs', () => {
  it('lets browsers of every origin send bytes and read the errors', async () => {
    const url = urlOf(await create());
    const preflight = await put({
      url,
      method: 'OPTIONS',
      headers: { origin: 'https://a.example' },
      body: Buffer.alloc(0),
    });
    expect(preflight.status).toBe(204);
    const refused = await put({ url: `${url}x` });
    const sent = await put({ url });
    for (const { headers } of [preflight, refused, sent]) {
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['x-request-id']).toMatch(/./);
    }
    expect(preflight.headers['access-control-allow-methods']).toContain('PUT');
    expect(preflight.headers['access-control-allow-headers']).toBe('*');
  });
});

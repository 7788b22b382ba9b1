/**
 * Responses to uploads that a client sees only if something goes wrong, on the real product. Spec: Uploads;
 * Infrastructure.
 */
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { anonymous, type Caller, call, codeOf, put, targetOf, withKey } from './support/client.ts';
import { removeFolder, startTintype, type Tintype } from './support/tintype.ts';
import { sendUpload, waitUntilEnded } from './support/upload.ts';

const UPLOADS = '/v1/projects/demo/uploads';
const MIB = 2 ** 20;
const PROXY_BYTES_MAX = 5 * MIB;

let tintype: Tintype;
let key: Caller;
let picture: Buffer;

beforeAll(async () => {
  tintype = await startTintype({
    env: {
      TINTYPE_PROXY_MAX_BYTES: String(PROXY_BYTES_MAX),
      // Only uploads into a folder and moves to a folder depend on it.
      TINTYPE_MEDIA_LIBRARY_WRITES: 'disabled',
    },
  });
  key = withKey(tintype, tintype.instance.api_key);
  picture = await over(photograph(64, 48)).png().toBuffer();
}, 300_000);

afterAll(async () => {
  await tintype?.end('SIGTERM');
  if (tintype !== undefined) await removeFolder(tintype.data);
});

const input = () => ({ content_type: 'image/png', size_bytes: picture.length });
const create = async (settings: object = {}) =>
  (await key('POST', UPLOADS, { ...input(), ...settings })).body;

describe('the health endpoints', () => {
  it.each(['/healthz', '/readyz'])('%s returns 200 without a credential', async (path) => {
    expect((await anonymous(tintype)('GET', path)).status).toBe(200);
  });
});

describe('an upload through the API', () => {
  const send = (url: string, raw: Buffer, headers: Record<string, string> = {}) =>
    call(tintype, {
      method: 'PUT',
      path: targetOf(url),
      raw,
      headers: { 'content-type': 'image/png', ...headers },
    });

  it('requires an unaltered URL, the declared content type and size, and a Content-Length', async () => {
    const { upload_id, proxy } = await create({ mode: 'proxy' });
    const url = proxy.put_url;
    expect(codeOf(await send(`${url}x`, picture))).toBe('401 invalid_signature');
    const another = { 'content-type': 'image/jpeg' };
    expect(codeOf(await send(url, picture, another))).toBe('415 content_type_mismatch');
    const more = Buffer.concat([picture, picture]);
    expect(codeOf(await send(url, more))).toBe('413 payload_too_large');
    const chunked = await fetch(`${tintype.instance.api_url}${targetOf(url)}`, {
      method: 'PUT',
      headers: { 'content-type': 'image/png' },
      body: new Blob([new Uint8Array(picture)]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect([chunked.status, await chunked.text()]).toEqual([
      411,
      expect.stringContaining('"length_required"'),
    ]);
    expect(codeOf(await send(url, picture))).toBe('204');
    expect((await waitUntilEnded(key, 'demo', upload_id)).status).toBe('ready');
  });

  it('is rejected with 413 proxy_upload_too_large above its own size limit', async () => {
    const over = { ...input(), mode: 'proxy', size_bytes: PROXY_BYTES_MAX + 1 };
    expect(codeOf(await key('POST', UPLOADS, over))).toBe('413 proxy_upload_too_large');
  });
});

describe('a multipart upload', () => {
  const PARTS = 2;
  const size_bytes = PARTS * 5 * MIB;
  const bytes = Buffer.alloc(size_bytes, 1);

  async function sendParts({ part_size, parts }: { part_size: number; parts: Part[] }) {
    const sent = [];
    for (const { part_number, url } of parts) {
      const part = bytes.subarray((part_number - 1) * part_size, part_number * part_size);
      const { status, headers } = await put(url, {}, part);
      expect(status).toBe(200);
      sent.push({ part_number, etag: headers['etag'] });
    }
    return sent;
  }
  type Part = { part_number: number; url: string };

  it('requires all its parts, renews their URLs, and cannot be resumed or aborted once complete', async () => {
    const { upload_id, multipart } = await create({ size_bytes, parts: PARTS });
    const at = `${UPLOADS}/${upload_id}`;
    const [first] = multipart.parts;
    expect((await put(`${first.url}x`, {}, bytes.subarray(0, 5 * MIB))).status).toBe(403);
    const { body, status } = await key('POST', `${at}/parts`);
    expect(status).toBe(200);
    const parts = await sendParts({ ...multipart, parts: body.parts });
    const complete = async (list?: unknown) => codeOf(await key('POST', `${at}/complete`, list));
    expect(await complete()).toBe('400 parts_required');
    expect(await complete({ parts: parts.slice(1) })).toBe('400 invalid_parts');
    expect(await complete({ parts })).toBe('200');
    expect(codeOf(await key('POST', `${at}/parts`))).toBe('409 upload_not_resumable');
    expect(codeOf(await key('POST', `${at}/abort`))).toBe('409 upload_not_pending');
  });

  it('requires parts of at least 5 MiB, and can be aborted', async () => {
    const small = { ...input(), size_bytes, parts: PARTS + 1 };
    expect(codeOf(await key('POST', UPLOADS, small))).toBe('400 invalid_part_size');
    const { upload_id } = await create({ size_bytes, parts: PARTS });
    const aborted = await key('POST', `${UPLOADS}/${upload_id}/abort`);
    expect([aborted.status, aborted.body.status]).toEqual([200, 'expired']);
  });
});

describe('a service with media library writes disabled', () => {
  it('rejects uploads into a folder and moves to a folder', async () => {
    const file = { bytes: picture, content_type: 'image/png', file_slug: 'a.png' };
    const { body } = await sendUpload(key, 'demo', file);
    expect((await waitUntilEnded(key, 'demo', body.upload_id)).status).toBe('ready');
    const created = await key('POST', UPLOADS, { ...input(), folder: 'a' });
    expect(codeOf(created)).toBe('409 media_library_disabled');
    const moved = await key('PATCH', '/v1/projects/demo/files/a.png', { folder: 'a' });
    expect(codeOf(moved)).toBe('409 media_library_disabled');
  });
});

describe('storage events', () => {
  async function tell(raw: Buffer, secret?: string) {
    const instance = JSON.parse(await readFile(join(tintype.data, 'instance.json'), 'utf8'));
    const mac = createHmac('sha256', secret ?? instance.storage_event_secret).update(raw);
    const headers = { 'x-storage-event-notification-signature': `v1=${mac.digest('hex')}` };
    const path = '/v1/internal/storage-events';
    return codeOf(await call(tintype, { method: 'POST', path, raw, headers }));
  }

  it('are accepted only with a valid signature and a valid body', async () => {
    const event = { event: 'ObjectCreated:Put', key: 'nobody/knows' };
    const raw = Buffer.from(JSON.stringify({ events: [event] }));
    expect(await tell(raw)).toBe('200');
    expect(await tell(raw, 'a guess')).toBe('401 invalid_signature');
    expect(await tell(Buffer.from('{'))).toBe('400 invalid_json');
    expect(await tell(Buffer.from('{"events":7}'))).toBe('400 invalid_request');
    expect(await tell(Buffer.alloc(MIB + 1, 32))).toBe('413 payload_too_large');
  });
});

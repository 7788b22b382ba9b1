/** The contract of every object store: run against folder storage, a real S3 server, or any other. */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Bucket, MultipartRefused } from '../../../../runtime/platform/storage/bucket.ts';

const MIB = 2 ** 20;
const PNG = { content_type: 'image/png' };

/** `open` returns a bucket that is ready. Tests use new keys, so the bucket need not be empty. */
export function describeBucket(name: string, open: () => Bucket): void {
  describe(`${name}: an object`, () => {
    it('is read back as it was written, with its length and type', async () => {
      const [bucket, key] = [open(), newKey()];
      const body = randomBytes(300_000);
      const head = await bucket.write(key, body, PNG);
      expect(head).toMatchObject({ size_bytes: body.length, content_type: 'image/png' });
      expect(await bucket.head(key)).toEqual(head);
      expect((await bucket.read(key))?.equals(body)).toBe(true);
    });

    it('is read whole if the caller offers memory, whether it is used or not', async () => {
      const [bucket, key] = [open(), newKey()];
      const body = randomBytes(300_000);
      await bucket.write(key, body, PNG);
      const offered = Buffer.alloc(400_000, 7);
      const read = await bucket.read(key, (bytes) => offered.subarray(0, bytes));
      expect(read?.equals(body)).toBe(true);
      expect(offered.subarray(300_000)).toEqual(Buffer.alloc(100_000, 7));
    });

    it('can be written as a stream, with or without a declared length', async () => {
      for (const facts of [PNG, { ...PNG, size_bytes: 5 * MIB + 7 }]) {
        const [bucket, key] = [open(), newKey()];
        const body = randomBytes(5 * MIB + 7);
        await bucket.write(key, Readable.from(slices(body, 65_536)), facts);
        expect(sha256(await bucket.read(key))).toBe(sha256(body));
      }
    });

    it('is not stored if its stream breaks off or its length differs from the declared one', async () => {
      const [bucket, key] = [open(), newKey()];
      await bucket.write(key, Buffer.from('old'), PNG);
      const breaking = Readable.from(breakAfter(Buffer.alloc(100_000)));
      await expect(bucket.write(key, breaking, { ...PNG, size_bytes: 200_000 })).rejects.toThrow();
      for (const size_bytes of [2, 4]) {
        const body = Readable.from([Buffer.from('new')]);
        await expect(bucket.write(key, body, { ...PNG, size_bytes })).rejects.toThrow(/announced/);
      }
      expect((await bucket.read(key))?.toString()).toBe('old');
    });

    it('is replaced completely by a second write', async () => {
      const [bucket, key] = [open(), newKey()];
      await bucket.write(key, Buffer.from('first, and longer'), PNG);
      const head = await bucket.write(key, Buffer.from('second'), { content_type: 'image/webp' });
      expect(head).toMatchObject({ size_bytes: 6, content_type: 'image/webp' });
      expect((await bucket.read(key))?.toString()).toBe('second');
    });

    it('may be empty', async () => {
      const [bucket, key] = [open(), newKey()];
      await bucket.write(key, Buffer.alloc(0), PNG);
      expect(await bucket.head(key)).toMatchObject({ size_bytes: 0 });
      expect((await bucket.read(key))?.length).toBe(0);
    });

    it('is read in ranges that include both ends', async () => {
      const [bucket, key] = [open(), newKey()];
      await bucket.write(key, Buffer.from('0123456789'), PNG);
      const part = async (start: number, end: number) =>
        (await buffer((await bucket.open(key, { start, end })) ?? Readable.from([]))).toString();
      expect(await part(0, 0)).toBe('0');
      expect(await part(3, 5)).toBe('345');
      expect(await part(8, 99)).toBe('89');
    });

    it('stays available while many others read it slowly', async () => {
      const [bucket, key] = [open(), newKey()];
      await bucket.write(key, randomBytes(2 * MIB), PNG);
      const bodies = await Promise.all(Array.from({ length: 100 }, () => bucket.open(key)));
      expect(await bucket.head(key)).toMatchObject({ size_bytes: 2 * MIB });
      for (const body of bodies) body?.destroy();
    });

    it('is undefined to every reader if it does not exist', async () => {
      const [bucket, key] = [open(), newKey()];
      expect(await bucket.head(key)).toBeUndefined();
      expect(await bucket.open(key)).toBeUndefined();
      expect(await bucket.read(key)).toBeUndefined();
    });

    it('does not exist after a delete, which can be repeated', async () => {
      const [bucket, key] = [open(), newKey()];
      await bucket.write(key, Buffer.from('x'), PNG);
      await bucket.delete(key);
      await bucket.delete(key);
      expect(await bucket.head(key)).toBeUndefined();
    });

    it('must have a key of plain segments', async () => {
      for (const key of ['', '/a', 'a//b', '../a', 'a/../b', '.a/b', 'a b', 'ä', 'a/']) {
        const refused = presign(open(), { key, size_bytes: 1 });
        await expect(refused).rejects.toThrow(TypeError);
      }
    });
  });

  describe(`${name}: a list`, () => {
    it('is in key order, limited to a prefix, and continues after a key', async () => {
      const [bucket, top] = [open(), newKey()];
      const keys = ['a/1', 'a/2', 'a-b', 'b', 'b.c'].map((name) => `${top}/${name}`);
      for (const key of keys) await bucket.write(key, Buffer.from(key), PNG);
      const sorted = keys.toSorted((left, right) => (left < right ? -1 : 1));
      const found = await bucket.list({ prefix: `${top}/`, limit: 10 });
      expect(found.map((object) => object.key)).toEqual(sorted);
      expect(found.map((object) => object.size_bytes)).toEqual(sorted.map((key) => key.length));
      expect(Math.abs(Date.now() - (found[0]?.modified_at.getTime() ?? 0))).toBeLessThan(3_600_000);
      const [first = '', second = ''] = sorted;
      const page = await bucket.list({ prefix: `${top}/`, after: first, limit: 1 });
      expect(page.map((object) => object.key)).toEqual([second]);
      expect(await bucket.list({ prefix: `${top}/none`, limit: 10 })).toEqual([]);
    });
  });

  describe(`${name}: a signed PUT URL`, () => {
    it('accepts only the signed type and length', async () => {
      const [bucket, key] = [open(), newKey()];
      const body = randomBytes(70_000);
      const signed = await presign(bucket, { key, size_bytes: body.length });
      const other = { 'content-type': 'image/webp' };
      expect((await put(signed.url, body, { ...signed.headers, ...other })).status).toBe(403);
      expect((await put(signed.url, Buffer.concat([body, body]), PNG_HEADERS)).status).toBe(403);
      expect((await put(`${signed.url}x`, body, PNG_HEADERS)).status).toBe(403);
      expect(await bucket.head(key)).toBeUndefined();
      const answer = await put(signed.url, body, PNG_HEADERS);
      expect(answer.status).toBe(200);
      expect(await bucket.head(key)).toMatchObject({
        size_bytes: 70_000,
        content_type: 'image/png',
      });
      expect(answer.headers.get('etag')).toBe((await bucket.head(key))?.etag);
    });

    it('says when it expires', async () => {
      const before = Date.now();
      const signed = await presign(open(), { key: newKey(), size_bytes: 1 });
      const seconds = (signed.expires_at.getTime() - before) / 1000;
      expect(seconds).toBeGreaterThan(890);
      expect(seconds).toBeLessThanOrEqual(901);
      expect(signed.headers).toEqual({ 'content-type': 'image/png', 'content-length': '1' });
    });
  });

  describe(`${name}: a multipart upload`, () => {
    it('becomes one object of its parts in the order of their numbers, however they arrived', async () => {
      const { bucket, key, upload_id } = await begin(open());
      const [one, two, three] = [randomBytes(5 * MIB), randomBytes(5 * MIB), randomBytes(11)];
      const third = await sendPart(bucket, { key, upload_id, part_number: 3, body: three });
      const first = await sendPart(bucket, { key, upload_id, part_number: 1, body: one });
      const second = await sendPart(bucket, { key, upload_id, part_number: 2, body: two });
      expect(await bucket.head(key)).toBeUndefined();
      await bucket.completeMultipart(key, { upload_id, parts: [first, second, third] });
      const head = await bucket.head(key);
      expect(head).toMatchObject({ size_bytes: 10 * MIB + 11, content_type: 'image/png' });
      expect(sha256(await bucket.read(key))).toBe(sha256(Buffer.concat([one, two, three])));
      expect(await listed(bucket, key)).toEqual([]);
    });

    it('accepts a part again, and the last bytes win', async () => {
      const { bucket, key, upload_id } = await begin(open());
      const part = { key, upload_id, part_number: 1 };
      const old = await sendPart(bucket, { ...part, body: Buffer.from('old') });
      const last = await sendPart(bucket, { ...part, body: Buffer.from('new') });
      const refused = bucket.completeMultipart(key, { upload_id, parts: [old] });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_parts' });
      await bucket.completeMultipart(key, { upload_id, parts: [last] });
      expect((await bucket.read(key))?.toString()).toBe('new');
    });

    it.each([
      [
        'an ETag that is none',
        () => ({ part_number: 1, etag: '"0123456789abcdef0123456789abcdef"' }),
      ],
      [
        'a part that never came',
        () => ({ part_number: 2, etag: '"0123456789abcdef0123456789abcdef"' }),
      ],
    ])('is rejected for %s, and can still be completed', async (_name, wrong) => {
      const { bucket, key, upload_id } = await begin(open());
      const part = await sendPart(bucket, {
        key,
        upload_id,
        part_number: 1,
        body: Buffer.from('abc'),
      });
      const refused = bucket.completeMultipart(key, { upload_id, parts: [wrong()] });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_parts' });
      await bucket.completeMultipart(key, { upload_id, parts: [part] });
      expect(await bucket.head(key)).toMatchObject({ size_bytes: 3 });
    });

    it('is rejected for a part below 5 MiB that is not the last', async () => {
      const { bucket, key, upload_id } = await begin(open());
      const part = { key, upload_id, body: Buffer.alloc(1000) };
      const parts = [
        await sendPart(bucket, { ...part, part_number: 1 }),
        await sendPart(bucket, { ...part, part_number: 2 }),
      ];
      const refused = bucket.completeMultipart(key, { upload_id, parts });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_parts' });
      expect(await bucket.head(key)).toBeUndefined();
    });

    it('leaves the object unchanged if it is completed a second time', async () => {
      const { bucket, key, upload_id } = await begin(open());
      const part = await sendPart(bucket, {
        key,
        upload_id,
        part_number: 1,
        body: Buffer.from('abc'),
      });
      const list = { upload_id, parts: [part] };
      await bucket.completeMultipart(key, list);
      await bucket.completeMultipart(key, list).catch((error) => {
        expect(error).toBeInstanceOf(MultipartRefused);
      });
      expect((await bucket.read(key))?.toString()).toBe('abc');
    });

    it('is rejected if it is unknown', async () => {
      const [bucket, key] = [open(), newKey()];
      const parts = [{ part_number: 1, etag: '"x"' }];
      const refused = bucket.completeMultipart(key, { upload_id: 'f'.repeat(32), parts });
      await expect(refused).rejects.toBeInstanceOf(MultipartRefused);
    });

    it('leaves nothing behind once aborted, and can be aborted again', async () => {
      const { bucket, key, upload_id } = await begin(open());
      await sendPart(bucket, { key, upload_id, part_number: 1, body: Buffer.from('abc') });
      expect(await listed(bucket, key)).toMatchObject([{ key, upload_id }]);
      await bucket.abortMultipart(key, upload_id);
      await bucket.abortMultipart(key, upload_id);
      expect(await listed(bucket, key)).toEqual([]);
      expect(await bucket.head(key)).toBeUndefined();
      const url = await partUrl(bucket, {
        key,
        upload_id,
        part_number: 2,
        body: Buffer.from('late'),
      });
      expect((await put(url, Buffer.from('late'))).status).toBe(404);
      expect(await listed(bucket, key)).toEqual([]);
    });

    it('is either completed or rejected if it is aborted at the same time', async () => {
      for (let round = 0; round < 8; round += 1) {
        const { bucket, key, upload_id } = await begin(open());
        const body = randomBytes(2 * MIB);
        const part = await sendPart(bucket, { key, upload_id, part_number: 1, body });
        const completed = bucket.completeMultipart(key, { upload_id, parts: [part] });
        const settled = expect(
          completed.catch((error: unknown) => {
            if (!(error instanceof MultipartRefused)) throw error;
          }),
        ).resolves.toBeUndefined();
        await sleep(round);
        await bucket.abortMultipart(key, upload_id);
        await settled;
        // versitygw may keep it without its parts, and the content sweep aborts it again.
        for (const left of await listed(bucket, key)) {
          await bucket.abortMultipart(key, left.upload_id);
        }
        expect(await listed(bucket, key)).toEqual([]);
        expect([undefined, body.length]).toContain((await bucket.head(key))?.size_bytes);
      }
    });

    it('accepts exactly the signed length and number of a part', async () => {
      const { bucket, key, upload_id } = await begin(open());
      const url = await partUrl(bucket, { key, upload_id, part_number: 1, body: Buffer.alloc(10) });
      expect((await put(url, Buffer.alloc(11))).status).toBe(403);
      expect((await put(url.replace(/part(Number)?=1/, 'part$1=2'), Buffer.alloc(10))).status).toBe(
        403,
      );
      expect((await put(url, Buffer.alloc(10))).status).toBe(200);
      await bucket.abortMultipart(key, upload_id);
    });
  });

  it(`${name}: passes its check`, async () => {
    await open().check();
  });
}

const PNG_HEADERS = { 'content-type': 'image/png' };

let keys = 0;
function newKey(): string {
  keys += 1;
  return `prj_${process.pid}-${Date.now()}/upl_${keys}`;
}

function presign(bucket: Bucket, of: { key: string; size_bytes: number }) {
  return bucket.presignPut(of.key, { ...PNG, size_bytes: of.size_bytes, expires_in_seconds: 900 });
}

function put(url: string, body: Buffer, headers: Record<string, string> = {}): Promise<Response> {
  const { 'content-length': _own, ...sent } = headers;
  return fetch(url, { method: 'PUT', body: new Uint8Array(body), headers: sent });
}

async function begin(bucket: Bucket) {
  const key = newKey();
  return { bucket, key, upload_id: await bucket.createMultipart(key, PNG) };
}

type Part = { key: string; upload_id: string; part_number: number; body: Buffer };

async function partUrl(bucket: Bucket, { key, body, ...part }: Part): Promise<string> {
  const terms = { ...part, size_bytes: body.length, expires_in_seconds: 900 };
  return (await bucket.presignPart(key, terms)).url;
}

async function sendPart(bucket: Bucket, part: Part) {
  const answer = await put(await partUrl(bucket, part), part.body);
  expect(answer.status).toBe(200);
  return { part_number: part.part_number, etag: answer.headers.get('etag') ?? '' };
}

function listed(bucket: Bucket, prefix: string) {
  return bucket.listMultiparts({ prefix, limit: 10 });
}

function sha256(body: Buffer | undefined): string {
  return createHash('sha256')
    .update(body ?? '')
    .digest('hex');
}

function* slices(body: Buffer, bytes: number): Generator<Buffer> {
  for (let start = 0; start < body.length; start += bytes)
    yield body.subarray(start, start + bytes);
}

async function* breakAfter(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
  throw new Error('the client went away');
}

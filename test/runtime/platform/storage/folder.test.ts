import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import {
  type Bucket,
  isObjectKey,
  ObjectSizeMismatch,
  StorageUnavailable,
} from '../../../../runtime/platform/storage/bucket.ts';
import { createFolderBucket } from '../../../../runtime/platform/storage/folder.ts';

let folder: string;
let bucket: Bucket;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-folder-'));
  bucket = bucketIn(folder);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function bucketIn(place: string): Bucket {
  const secret = Buffer.alloc(32, 7);
  const publicUrl = 'http://localhost:8080';
  return createFolderBucket({
    name: 'content',
    folder: place,
    publicUrl,
    secret,
    clock: systemClock,
  });
}

const png = { content_type: 'image/png' };

describe('an object in folder storage', () => {
  it.each(['stat', 'read'] as const)('leaves no file open if its %s fails', async (method) => {
    await bucket.write('prj_1/f', Buffer.from('bytes'), png);
    const own = await open(join(folder, 'prj_1/f'));
    await own.close();
    const opened: FileHandle[] = [];
    // Real disks cannot be made to fail on demand.
    const failing = vi
      .spyOn<FileHandle, 'stat' | 'read'>(Object.getPrototypeOf(own), method)
      .mockImplementationOnce(async function (this: FileHandle) {
        opened.push(this);
        throw Object.assign(new Error('a broken disk'), { code: 'EIO' });
      });
    await expect(bucket.open('prj_1/f')).rejects.toThrow(StorageUnavailable);
    failing.mockRestore();
    expect(opened.map(({ fd }) => fd)).toEqual([-1]);
  });

  it('is read back as written, with its size, type and a quoted digest', async () => {
    const body = Buffer.from('some bytes');
    const written = await bucket.write('prj_1/file_1/1-ab', body, png);
    expect(written).toMatchObject({ size_bytes: 10, content_type: 'image/png' });
    expect(written.etag).toMatch(/^"[0-9a-f]{64}"$/);
    expect(await bucket.head('prj_1/file_1/1-ab')).toEqual(written);
    expect(await bucket.read('prj_1/file_1/1-ab')).toEqual(body);
    const stream = await bucket.open('prj_1/file_1/1-ab');
    expect(await buffer(stream as Readable)).toEqual(body);
  });

  it('is stored whole from a stream of many pieces', async () => {
    const pieces = Array.from({ length: 300 }, (_, n) => Buffer.alloc(10_000, n));
    const whole = Buffer.concat(pieces);
    const facts = { ...png, size_bytes: whole.length };
    const written = await bucket.write('a/b', Readable.from(pieces), facts);
    expect(written.size_bytes).toBe(whole.length);
    expect((await bucket.read('a/b'))?.equals(whole)).toBe(true);
  });

  it('may be empty', async () => {
    await bucket.write('empty', Buffer.alloc(0), png);
    expect(await bucket.head('empty')).toMatchObject({ size_bytes: 0 });
    expect(await bucket.read('empty')).toEqual(Buffer.alloc(0));
    expect(await buffer((await bucket.open('empty')) as Readable)).toEqual(Buffer.alloc(0));
  });

  it('can be read in any byte range, up to its end', async () => {
    await bucket.write('digits', Buffer.from('0123456789'), png);
    const at = async (start: number, end: number) =>
      (await buffer((await bucket.open('digits', { start, end })) as Readable)).toString();
    expect(await at(0, 0)).toBe('0');
    expect(await at(3, 5)).toBe('345');
    expect(await at(8, 99)).toBe('89');
    expect(await at(10, 20)).toBe('');
  });

  it('is undefined to every reader if it does not exist', async () => {
    await bucket.write('a/b', Buffer.from('x'), png);
    for (const key of ['a', 'a/c', 'a/b/c', 'z']) {
      expect(await bucket.head(key)).toBeUndefined();
      expect(await bucket.read(key)).toBeUndefined();
      expect(await bucket.open(key)).toBeUndefined();
    }
  });

  it('is replaced as a whole, while a reader of the old one keeps the old bytes', async () => {
    await bucket.write('k', Buffer.alloc(300_000, 1), png);
    const old = (await bucket.open('k')) as Readable;
    await bucket.write('k', Buffer.from('new'), { content_type: 'image/webp' });
    expect((await buffer(old)).equals(Buffer.alloc(300_000, 1))).toBe(true);
    expect(await bucket.head('k')).toMatchObject({ size_bytes: 3, content_type: 'image/webp' });
  });

  it('is not stored if its length differs from the announced one, and the previous one stays', async () => {
    await bucket.write('k', Buffer.from('before'), png);
    for (const size_bytes of [2, 9]) {
      const write = bucket.write('k', Readable.from([Buffer.from('hello')]), {
        ...png,
        size_bytes,
      });
      await expect(write).rejects.toBeInstanceOf(ObjectSizeMismatch);
    }
    expect((await bucket.read('k'))?.toString()).toBe('before');
    expect(await readdir(join(folder, '.incoming'))).toEqual([]);
  });

  it('is not stored if its source fails', async () => {
    const source = Readable.from(
      (async function* () {
        yield Buffer.alloc(100_000);
        throw new Error('source broke');
      })(),
    );
    await expect(bucket.write('k', source, png)).rejects.toThrow('source broke');
    expect(await bucket.head('k')).toBeUndefined();
    expect(await readdir(join(folder, '.incoming'))).toEqual([]);
  });

  it('can be deleted twice, and its empty folders are removed', async () => {
    await bucket.write('a/b/c', Buffer.from('x'), png);
    await bucket.write('a/d', Buffer.from('x'), png);
    await bucket.delete('a/b/c');
    await bucket.delete('a/b/c');
    expect(await bucket.head('a/b/c')).toBeUndefined();
    expect(await readdir(join(folder, 'a'))).toEqual(['d']);
  });

  it('survives concurrent deletes of its neighbors', async () => {
    const rounds = Array.from({ length: 40 }, async (_, n) => {
      await bucket.write(`p/${n % 3}/gone-${n}`, Buffer.from('x'), png);
      await Promise.all([
        bucket.delete(`p/${n % 3}/gone-${n}`),
        bucket.write(`p/${n % 3}/kept-${n}`, Buffer.from('y'), png),
      ]);
    });
    await Promise.all(rounds);
    const left = await bucket.list({ prefix: 'p/', limit: 100 });
    expect(left).toHaveLength(40);
  });

  it('is never seen incomplete after its writer is killed', { timeout: 300_000 }, async () => {
    const writer = new URL('../../../support/folder-writer.ts', import.meta.url).pathname;
    for (const delayMs of [40, 90, 160]) {
      const child = spawn(process.execPath, [writer, folder], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      child.kill('SIGKILL');
      await once(child, 'close');
      const body = await bucket.read('victim');
      const head = await bucket.head('victim');
      expect(body?.length).toBe(head?.size_bytes);
      expect(new Set(body).size).toBe(1);
    }
  });
});

describe('the list of objects', () => {
  const keys = fc.uniqueArray(
    fc.array(fc.constantFrom('a', 'b', 'a-b', 'a.b', 'Z', 'a0'), { minLength: 1, maxLength: 3 }),
    { maxLength: 12, selector: (parts) => parts.join('/') },
  );

  it('is in key order and complete for every prefix, page by page', async () => {
    await fc.assert(
      fc.asyncProperty(keys, fc.constantFrom('', 'a', 'a/', 'b/a', 'zz'), async (parts, prefix) => {
        const place = await mkdtemp(join(tmpdir(), 'tintype-list-'));
        const listed = bucketIn(place);
        // On disk, a name is either a file or a folder: `leaf` keeps objects and folders apart.
        const wanted = parts.map((path) => `${path.join('/')}/leaf`).sort();
        for (const key of wanted) await listed.write(key, Buffer.from(key), png);
        const found = await listAll(listed, prefix);
        expect(found).toEqual(wanted.filter((key) => key.startsWith(prefix)));
        await rm(place, { recursive: true });
      }),
      { numRuns: 25 },
    );
  });

  it('contains sizes and times, and leaves out what is being written', async () => {
    await bucket.write('k', Buffer.from('12345'), png);
    await writeFile(join(folder, '.incoming', 'half'), 'x');
    const [only, ...more] = await bucket.list({ prefix: '', limit: 10 });
    expect(more).toEqual([]);
    expect(only).toMatchObject({ key: 'k', size_bytes: 5 });
    expect(only?.modified_at).toBeInstanceOf(Date);
  });

  async function listAll(from: Bucket, prefix: string): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const after = found.at(-1);
      const page = await from.list({ prefix, limit: 2, ...(after === undefined ? {} : { after }) });
      found.push(...page.map((object) => object.key));
      if (page.length < 2) return found;
    }
  }
});

describe('an object key', () => {
  it('never leads outside the folder', async () => {
    const part = fc.oneof(
      fc.constantFrom('..', '.', '', '...', '.hidden', '~', 'a\\b', 'a\0', '%2e%2e', 'ok', 'C:'),
      fc.string({ maxLength: 8 }),
    );
    const anyKey = fc.array(part, { maxLength: 5 }).map((parts) => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(anyKey, async (key) => {
        if (isObjectKey(key)) {
          expect(join('/root/folder', key).startsWith('/root/folder/')).toBe(true);
          expect(encodeURI(key)).toBe(key);
          return;
        }
        await expect(bucket.write(key, Buffer.from('x'), png)).rejects.toBeInstanceOf(TypeError);
        await expect(bucket.read(key)).rejects.toBeInstanceOf(TypeError);
        await expect(bucket.delete(key)).rejects.toBeInstanceOf(TypeError);
      }),
      { numRuns: 300 },
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('is valid in the forms that Tintype generates, and invalid if empty, too long or with outer slashes', () => {
    const sha = 'a'.repeat(64);
    expect(isObjectKey(`prj_01abc/file_01abc/12-${sha}`)).toBe(true);
    expect(isObjectKey('prj_01abc/upl_01abc')).toBe(true);
    expect(isObjectKey('')).toBe(false);
    expect(isObjectKey('a/')).toBe(false);
    expect(isObjectKey('/a')).toBe(false);
    expect(isObjectKey(`${'a/'.repeat(600)}a`)).toBe(false);
  });
});

describe('the check of the folder', () => {
  it('passes on a writable folder and leaves nothing behind', async () => {
    await bucket.check();
    expect(await readdir(join(folder, '.incoming'))).toEqual([]);
  });

  it('removes incoming files older than a day, and keeps younger ones', async () => {
    await bucket.check();
    const [old, young] = [join(folder, '.incoming', 'old'), join(folder, '.incoming', 'young')];
    await writeFile(old, 'x');
    await writeFile(young, 'x');
    const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
    await utimes(old, twoDaysAgo, twoDaysAgo);
    await bucket.check();
    expect(await readdir(join(folder, '.incoming'))).toEqual(['young']);
  });

  it('removes remains of multipart uploads older than a day, and keeps uploads in progress', async () => {
    const uploads = join(folder, '.multipart');
    const facts = { content_type: 'image/png' };
    const ids = [];
    for (const key of ['ended', 'begun', 'garbled', 'young', 'alive']) {
      ids.push(await bucket.createMultipart(key, facts));
    }
    const [ended = '', begun = '', garbled = '', young = '', alive = ''] = ids;
    await writeFile(join(uploads, ended, '00001'), 'the bytes of a part');
    await rm(join(uploads, ended, 'upload.json'));
    await writeFile(join(uploads, begun, 'upload.json'), '');
    await writeFile(join(uploads, garbled, 'upload.json'), '{"key":"gar');
    await rm(join(uploads, young, 'upload.json'));
    const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
    for (const id of [ended, begun, garbled, alive]) {
      await utimes(join(uploads, id), twoDaysAgo, twoDaysAgo);
    }
    await bucket.check();
    expect((await readdir(uploads)).toSorted()).toEqual([young, alive].toSorted());
    const open = await bucket.listMultiparts({ prefix: '', limit: 10 });
    expect(open.map(({ upload_id }) => upload_id)).toEqual([alive]);
  });

  it('says what to do if the folder is missing or not a folder', async () => {
    const missing = await bucketIn(join(folder, 'nowhere'))
      .check()
      .catch((error) => error);
    expect(missing).toBeInstanceOf(StorageUnavailable);
    expect(missing.advice).toBe(
      `The storage folder ${folder}/nowhere does not exist: create it, or name another one.`,
    );
    await writeFile(join(folder, 'file'), '');
    const noFolder = await bucketIn(join(folder, 'file'))
      .check()
      .catch((error) => error);
    expect(noFolder.advice).toContain('is not a folder');
    expect(noFolder.code).toBe('storage_unavailable');
  });

  it('says what to do if the folder is not writable', async () => {
    const locked = join(folder, 'locked');
    await mkdir(locked);
    await chmod(locked, 0o500);
    const checker = new URL('../../../support/folder-writer.ts', import.meta.url).pathname;
    // Root can write anywhere, so for root the check runs as user `nobody`.
    const child = spawn(process.execPath, [checker, locked, 'check'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}),
    });
    await chmod(folder, 0o755);
    const said = (await buffer(child.stdout)).toString();
    expect(said).toContain(`The storage folder ${locked} cannot be used: make it`);
  });
});

describe('a bucket whose folder has disappeared', () => {
  it('throws StorageUnavailable for a write or a list, and does not recreate the folder', async () => {
    await rm(folder, { recursive: true });
    const write = bucket.write('k', Buffer.from('x'), png);
    await expect(write).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(bucket.list({ prefix: '', limit: 1 })).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(readFile(join(folder, 'k'))).rejects.toThrow();
  });

  it('throws StorageUnavailable to every reader instead of reporting a missing object', async () => {
    await bucket.write('k', Buffer.from('x'), png);
    await rm(folder, { recursive: true });
    for (const read of [() => bucket.head('k'), () => bucket.open('k'), () => bucket.read('k')]) {
      await expect(read()).rejects.toBeInstanceOf(StorageUnavailable);
    }
    await writeFile(folder, 'no folder');
    await expect(bucket.head('k')).rejects.toBeInstanceOf(StorageUnavailable);
  });
});

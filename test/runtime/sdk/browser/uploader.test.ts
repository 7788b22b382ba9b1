// Spec: Upload helper codes; Upload helper constants. The browser client in Chromium, from another origin, against the
// upload handler and a real Tintype: parts, progress, pause, resumption after a reload, and each of its own codes.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uploadRoute } from '../../../../runtime/sdk/server/sdk.ts';
import {
  notePuts,
  openPage,
  startUploadSite,
  type UploadSite,
} from '../../../support/upload-site.ts';

let site: UploadSite;
let page: Page;
let puts: number[];

const SCRIPT = `
import { createUploader, UploadError } from '/runtime/sdk/browser/uploader.ts';
const uploader = createUploader({ endpoint: '/upload' });
const picture = async (name) => {
  const bytes = await (await fetch('/' + name)).blob();
  const type = name.endsWith('.bmp') ? 'image/bmp' : 'image/jpeg';
  return new File([bytes], name, { type, lastModified: 1 });
};
const end = (done) => done.then(
  (value) => value,
  (error) => ({ code: error.code, status: error.status, isTyped: error instanceof UploadError }),
);
Object.assign(window, { uploader, picture, end });
document.title = 'ready';
`;

beforeAll(async () => {
  const photo = uploadRoute({
    accept: { 'image/*': {} },
    onUploadComplete: ({ file }) => ({ saved: file.width }),
  });
  site = await startUploadSite(SCRIPT, photo);
}, 300_000);
afterAll(() => site?.close());

beforeEach(async () => {
  page = await (await site.browser.newContext()).newPage();
  puts = notePuts(page);
  await openPage(page, site);
});
afterEach(async () => {
  await page.context().close();
});

/** Begins an upload in the page; `window.upload` is it, `window.sent` what was told of it. */
const begin = (name: string, input: object = {}) =>
  page.evaluate(`(async () => {
    window.sent = [];
    const file = await picture('${name}');
    const onProgress = (at) => sent.push(at);
    window.upload = uploader.upload('photo', file, { onProgress, input: ${JSON.stringify(input)} });
    window.ended = end(upload.done);
  })()`);
const ended = () => page.evaluate('ended') as Promise<Record<string, unknown>>;
const sentAtLeast = (bytes: number) =>
  page.waitForFunction(`sent.some(({ sent_bytes }) => sent_bytes >= ${bytes})`);
const MIB = 1024 * 1024;

/** Holds back every PUT of these parts until it is let go. */
async function hold(parts: readonly number[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/[?&]part=/, async (route) => {
    const part = Number(new URL(route.request().url()).searchParams.get('part'));
    if (parts.includes(part)) await promise;
    await route.continue().catch(() => undefined);
  });
  return resolve;
}

describe('the browser client', { timeout: 300_000 }, () => {
  it('sends a small file in one piece and tells how far it is', async () => {
    await begin('small.jpg');
    expect(await ended()).toMatchObject({
      file: { width: 64, revision: 1 },
      result: { saved: 64 },
    });
    expect(puts).toEqual([0]);
    const sent = (await page.evaluate('sent')) as { phase: string; sent_bytes: number }[];
    expect(sent.at(-1)).toMatchObject({ phase: 'processing' });
    const bytes = sent.map(({ sent_bytes }) => sent_bytes);
    expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
  });

  it('sends a large file in parts, stops at a pause and goes on after it', async () => {
    const release = await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.pause()');
    release();
    await page.evaluate('upload.resume()');
    expect(await ended()).toMatchObject({ file: { width: 2400, content_type: 'image/png' } });
    expect(new Set(puts)).toEqual(new Set([1, 2, 3]));
  });

  it('goes on after a reload where it was', async () => {
    await hold([3]);
    await begin('large.bmp');
    await expect
      .poll(() => page.evaluate('uploader.pending().then(([first]) => first?.sent_bytes ?? 0)'), {
        timeout: 30_000,
      })
      .toBeGreaterThan(10 * MIB);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await openPage(page, site);
    puts.length = 0;
    await begin('large.bmp');
    expect(await ended()).toMatchObject({ file: { width: 2400 } });
    expect(puts).toEqual([3]);
    expect(await page.evaluate('uploader.pending()')).toEqual([]);
  });

  it('begins anew where something else is sent along', async () => {
    await hold([3]);
    await begin('large.bmp', { album: 1 });
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.detach()');
    await begin('large.bmp', { album: 2 });
    await sentAtLeast(10 * MIB);
    expect(await page.evaluate('uploader.pending()')).toHaveLength(2);
  });

  it('says aborted, and the service has aborted it too', async () => {
    await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.abort()');
    expect(await ended()).toMatchObject({ code: 'aborted', isTyped: true });
    expect(await page.evaluate('uploader.pending()')).toEqual([]);
  });

  it('gives up on the server what was begun while it was aborted', async () => {
    const [prepared, held, given] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<unknown>(),
    ];
    await page.route('**/upload', async (route) => {
      const response = await route.fetch();
      if (route.request().postData()?.includes('"abort"')) given.resolve(await response.json());
      else {
        prepared.resolve();
        await held.promise;
      }
      await route.fulfill({ response }).catch(() => undefined);
    });
    await begin('large.bmp');
    await prepared.promise;
    await page.evaluate('upload.abort()');
    expect(await ended()).toMatchObject({ code: 'aborted' });
    held.resolve();
    expect(await given.promise).toEqual({ status: 'aborted' });
  });

  it('ends on the server, too, what would go on and is aborted before it does', async () => {
    await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.detach()');
    expect(await page.evaluate('uploader.pending()')).toHaveLength(1);
    const again = page.evaluate(`picture('large.bmp').then((file) => {
      const upload = uploader.upload('photo', file, { input: {} });
      upload.abort();
      return end(upload.done);
    })`);
    expect(await again).toMatchObject({ code: 'aborted' });
    expect(await page.evaluate('uploader.pending()')).toEqual([]);
  });

  it('says detached, and file_mismatch of another file that is to go on', async () => {
    await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.detach()');
    expect(await ended()).toMatchObject({ code: 'detached' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const resume = (name: string) =>
      page.evaluate(`(async () => {
        const [{ id }] = await uploader.pending();
        return end(uploader.resume(id, await picture('${name}')).done);
      })()`);
    expect(await resume('other.bmp')).toMatchObject({ code: 'file_mismatch' });
    expect(await resume('large.bmp')).toMatchObject({ file: { width: 2400 } });
  });

  it('says etag_missing where the storage does not show it', async () => {
    await page.route(/[?&]part=/, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue();
      const response = await route.fetch();
      const { 'access-control-expose-headers': _, ...headers } = response.headers();
      return route.fulfill({ response, headers });
    });
    await begin('large.bmp');
    expect(await ended()).toMatchObject({ code: 'etag_missing' });
    // Of the parts that were under way beside the one that ended it.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('tries a part again, and says network_error where that does not help', async () => {
    let failures = 0;
    await page.route(/_storage/, (route) => {
      failures += 1;
      return failures <= 2 ? route.abort() : route.continue();
    });
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ file: { width: 64 } });
    await page.unrouteAll();
    await page.route(/_storage/, (route) => route.abort());
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ code: 'network_error', status: null });
  });

  it('waits while the browser is offline, for longer than any try would, and sends what is missing', async () => {
    await page.clock.install();
    const release = await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    const failed: string[] = [];
    page.on('requestfailed', (request) => failed.push(request.method()));
    await page.context().setOffline(true);
    release();
    await expect.poll(() => failed).toContain('PUT');
    await page.clock.runFor(60_000);
    await page.context().setOffline(false);
    expect(await ended()).toMatchObject({ file: { width: 2400 } });
    expect(puts.toSorted()).toEqual([1, 2, 3]);
  });

  it('ends at once where it is aborted while the browser is offline', async () => {
    await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.context().setOffline(true);
    await page.evaluate('upload.abort()');
    expect(await ended()).toMatchObject({ code: 'aborted' });
  });

  it('keeps what a storage that is away for a while would not take, for another time', async () => {
    await page.route(/[?&]part=3/, (route) => route.fulfill({ status: 503 }));
    await begin('large.bmp');
    expect(await ended()).toMatchObject({ code: 'invalid_response', status: 503 });
    expect(await page.evaluate('uploader.pending()')).toHaveLength(1);
  });

  it('says invalid_response of an endpoint that is none', async () => {
    await page.route('**/upload', (route) => route.fulfill({ status: 200, body: '<html>' }));
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ code: 'invalid_response', status: 200 });
  });

  it('hands on what the handler refuses, with its details', async () => {
    const refused = await page.evaluate(`(async () => {
      const file = new File(['x'], 'a.txt', { type: 'text/plain' });
      return uploader.upload('photo', file).done.catch(({ code, status, details }) => ({ code, status, details }));
    })()`);
    expect(refused).toEqual({
      code: 'unsupported_content_type',
      status: 400,
      details: { accepted: ['image/*'] },
    });
  });
});

// Spec: Upload helper codes; Upload helper constants. The browser client in Chromium, on another origin, with the
// upload handler and a real Tintype: parts, progress, pauses, resuming after a reload, and all of its own error codes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uploadRoute } from '../../../../runtime/sdk/server/sdk.ts';
import { withKey } from '../../../contract/support/client.ts';
import { upload } from '../../../contract/support/upload.ts';
import { type Examples, offerExample, writeExamples } from '../../../support/examples.ts';
import { over, photograph } from '../../../support/pictures.ts';
import {
  notePuts,
  openPage,
  sharePage,
  startUploadSite,
  type UploadSite,
} from '../../../support/upload-site.ts';

let site: UploadSite;
let page: Page;
const takePage = sharePage();
let puts: number[];

const SCRIPT = `
import { createUploader, UploadError } from '/runtime/sdk/browser/uploader.ts';
const uploader = createUploader({ endpoint: 'upload' });
const picture = async (name) => {
  const bytes = await (await fetch('/' + name)).blob();
  const type = name.endsWith('.bmp') ? 'image/bmp' : 'image/jpeg';
  return new File([bytes], name, { type, lastModified: 1 });
};
const end = (done) => done.then(
  (value) => value,
  (error) => ({ code: error.code, status: error.status, isTyped: error instanceof UploadError }),
);
Object.assign(window, { createUploader, uploader, picture, end });
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

beforeEach(async ({ onTestFailed }) => {
  page = await takePage(site, onTestFailed);
  puts = notePuts(page);
});

/** Starts an upload in the page: `window.upload`, with its progress in `window.sent`. */
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
/** The handler's response when the page aborts an upload. */
const abortAnswer = async () => {
  const response = await page.waitForResponse((each) =>
    Boolean(each.request().postData()?.includes('"abort"')),
  );
  return response.json();
};
const MIB = 1024 * 1024;

/** Holds all PUTs of these parts until the returned function is called. */
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
  it('sends a small file in one piece, and reports progress', async () => {
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

  it('sends a large file in parts, and continues after a pause', async () => {
    const release = await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.pause()');
    release();
    await page.evaluate('upload.resume()');
    expect(await ended()).toMatchObject({ file: { width: 2400, content_type: 'image/png' } });
    expect(new Set(puts)).toEqual(new Set([1, 2, 3]));
  });

  it('resumes after a reload with only the missing part', async () => {
    await hold([3]);
    await begin('large.bmp');
    await expect
      .poll(() => page.evaluate('uploader.pending().then(([first]) => first?.sent_bytes ?? 0)'), {
        timeout: 30_000,
      })
      .toBeGreaterThan(10 * MIB);
    // Leave the page first: otherwise it would still send the held requests.
    await page.goto('about:blank');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await openPage(page, site);
    puts.length = 0;
    await begin('large.bmp');
    expect(await ended()).toMatchObject({ file: { width: 2400 } });
    expect(puts).toEqual([3]);
    expect(await page.evaluate('uploader.pending()')).toEqual([]);
  });

  it('rejects a relative endpoint on a page without a usable base URL', async () => {
    const said = await page.evaluate(`(() => {
      document.head.append(Object.assign(document.createElement('base'), { href: 'about:blank' }));
      const make = (endpoint) => {
        try {
          return typeof createUploader({ endpoint }).upload;
        } catch (error) {
          return String(error);
        }
      };
      return ['/upload', 'https://shop.example/upload'].map(make);
    })()`);
    const advice = 'use a whole URL such as https://shop.example/upload';
    expect(said).toEqual([
      `TypeError: endpoint is '/upload', which is relative, and about:blank is no base for it: ${advice}`,
      'function',
    ]);
  });

  it('starts a new upload if other input is sent along', async () => {
    await hold([3]);
    await begin('large.bmp', { album: 1 });
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.detach()');
    await begin('large.bmp', { album: 2 });
    await sentAtLeast(10 * MIB);
    expect(await page.evaluate('uploader.pending()')).toHaveLength(2);
  });

  it('ends with aborted, aborts the upload on the server, and keeps nothing pending', async () => {
    await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    const aborting = abortAnswer();
    await page.evaluate('upload.abort()');
    expect(await ended()).toMatchObject({ code: 'aborted', isTyped: true });
    expect(await aborting).toEqual({ status: 'aborted' });
    expect(await page.evaluate('uploader.pending()')).toEqual([]);
  });

  it('aborts on the server an upload that was prepared while it was aborted', async () => {
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

  it('gets the same session again if the responses to prepare are lost', async () => {
    const prepared: unknown[] = [];
    await page.route('**/upload', async (route) => {
      const response = await route.fetch();
      if (route.request().postData()?.includes('"prepare"')) {
        prepared.push((await response.json()).upload_id);
        if (prepared.length < 3) return route.abort();
      }
      return route.fulfill({ response });
    });
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ file: { width: 64 }, upload_id: prepared[0] });
    expect(prepared).toEqual([expect.any(String), prepared[0], prepared[0]]);
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ upload_id: prepared[3] });
    expect(prepared[3]).not.toBe(prepared[0]);
  });

  it('aborts a pending upload on the server, too, if it is aborted before it resumes', async () => {
    await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.evaluate('upload.detach()');
    expect(await page.evaluate('uploader.pending()')).toHaveLength(1);
    const aborting = abortAnswer();
    const again = page.evaluate(`picture('large.bmp').then((file) => {
      const upload = uploader.upload('photo', file, { input: {} });
      upload.abort();
      return end(upload.done);
    })`);
    expect(await again).toMatchObject({ code: 'aborted' });
    expect(await aborting).toEqual({ status: 'aborted' });
    expect(await page.evaluate('uploader.pending()')).toEqual([]);
  });

  it('ends with detached, and rejects another file on resume with file_mismatch', async () => {
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

  it('continues if the progress callback throws, whose error reaches the page', async () => {
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    const fail = 'onProgress: () => { throw new Error("no bar"); }';
    for (const name of ['small.jpg', 'large.bmp']) {
      const done = `uploader.upload('photo', await picture('${name}'), { ${fail}, input: {} }).done`;
      expect(await page.evaluate(`(async () => end(${done}))()`)).toMatchObject({
        upload_id: expect.any(String),
      });
    }
    expect(new Set(faults)).toEqual(new Set(['no bar']));
  });

  it('keeps its relative endpoint when the address of the page changes', async () => {
    await page.evaluate('history.pushState(null, "", "/albums/1")');
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ file: { width: 64 } });
  });

  it('reports file_mismatch for a file that has changed since it was chosen', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tintype-chosen-'));
    const path = join(folder, 'chosen.jpg');
    await writeFile(path, 'first');
    await page.evaluate(
      'document.body.append(Object.assign(document.createElement("input"), { type: "file" }))',
    );
    await page.setInputFiles('input', path);
    await page.evaluate('window.chosen = document.querySelector("input").files[0]; chosen.size');
    await rm(folder, { recursive: true });
    const send = () => page.evaluate('end(uploader.upload("photo", chosen).done)');
    const mismatch = { code: 'file_mismatch', status: null, isTyped: true };
    expect(await send()).toEqual(mismatch);
    // Pages without TLS have no crypto.subtle.
    await page.evaluate('Object.defineProperty(crypto, "subtle", { value: undefined })');
    expect(await send()).toEqual(mismatch);
  });

  it('reports etag_missing if the storage does not expose the ETag, and aborts the upload', async () => {
    await page.route(/[?&]part=/, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue();
      const response = await route.fetch();
      const { 'access-control-expose-headers': _, ...headers } = response.headers();
      return route.fulfill({ response, headers });
    });
    const given = abortAnswer();
    await begin('large.bmp');
    expect(await ended()).toMatchObject({ code: 'etag_missing' });
    expect(await given).toEqual({ status: 'aborted' });
    expect(await page.evaluate('uploader.pending()')).toEqual([]);
    // Requests for other parts may still be in flight.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('retries a failed PUT, and reports network_error and aborts if that does not help', async () => {
    let failures = 0;
    await page.route(/_storage/, (route) => {
      failures += 1;
      return failures <= 2 ? route.abort() : route.continue();
    });
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ file: { width: 64 } });
    await page.unrouteAll();
    await page.route(/_storage/, (route) => route.abort());
    const given = abortAnswer();
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ code: 'network_error', status: null });
    // An upload in one piece cannot be resumed, so the client aborts it to free its reservation.
    expect(await given).toEqual({ status: 'aborted' });
  });

  it('waits while the browser is offline, longer than any retry, and then sends only what is missing', async ({
    onTestFinished,
  }) => {
    // Its clock is not the shared page's.
    const own = await site.browser.newPage();
    onTestFinished(() => own.close());
    page = own;
    puts = notePuts(page);
    await openPage(page, site);
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

  it('ends immediately if it is aborted while the browser is offline', async () => {
    await hold([3]);
    await begin('large.bmp');
    await sentAtLeast(10 * MIB);
    await page.context().setOffline(true);
    await page.evaluate('upload.abort()');
    expect(await ended()).toMatchObject({ code: 'aborted' });
  });

  it('keeps an upload pending if the storage stays unavailable', async () => {
    await page.route(/[?&]part=3/, (route) => route.fulfill({ status: 503 }));
    await begin('large.bmp');
    expect(await ended()).toMatchObject({ code: 'invalid_response', status: 503 });
    expect(await page.evaluate('uploader.pending()')).toHaveLength(1);
  });

  it('reports invalid_response if the endpoint does not answer with JSON', async () => {
    await page.route('**/upload', (route) => route.fulfill({ status: 200, body: '<html>' }));
    await begin('small.jpg');
    expect(await ended()).toMatchObject({ code: 'invalid_response', status: 200 });
  });

  it('passes on a refusal of the handler with its details', async () => {
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

// The examples for webhooks and plain URLs run in ../package.test.ts.
describe('the examples of docs/sdk.md', { timeout: 300_000 }, () => {
  const DOCUMENT = 'docs/sdk.md';
  let examples: Examples;

  beforeAll(async () => {
    const { api_url, api_key, project_slug } = site.tintype.instance;
    examples = await writeExamples(DOCUMENT, {
      'https://images.example': api_url,
      'tin_live_…': api_key,
      "'shop'": `'${project_slug}'`,
    });
    for (const name of ['page.ts', 'use-upload.ts']) offerExample(site, DOCUMENT, name);
  });
  afterAll(() => examples?.close());

  /**
   * Runs a script in the page with the example's server as the upload handler, signed in as ada.
   */
  async function onTheirServer(program: string): Promise<unknown> {
    const { server } = (await examples.load('frameworks.ts')) as unknown as { server: Server };
    const before = site.answers.get('/upload') ?? '';
    site.answers.set('/upload', async (request, response) => {
      request.headers['x-user'] = 'ada';
      server.emit('request', request, response);
    });
    try {
      return await page.evaluate(`(async () => { ${program} })()`);
    } finally {
      site.answers.set('/upload', before);
    }
  }

  it('send an image from a page to the server, and return its URL or its error code', async () => {
    const said = await onTheirServer(`
      const { send } = await import('/examples/page.ts');
      return [await send(await picture('small.jpg')), await send(await picture('torn.jpg'))];
    `);
    const [published, refused] = said as string[];
    expect(published).toMatch(/\/originals\/f\/avatar-ada round$/);
    expect(refused).toBe('unsupported_media_type');
  });

  it('report the progress of an upload from a React hook', async () => {
    const said = await onTheirServer(`
      const { makeUseUpload } = await import('/examples/use-upload.ts');
      const progress = [];
      const react = { useState: () => [null, (at) => progress.push(at)], useCallback: (work) => work };
      const { file } = await makeUseUpload(react)().send(await picture('small.jpg'));
      return [file.width, progress.at(-1).sent_bytes === progress.at(-1).total_bytes];
    `);
    expect(said).toEqual([64, true]);
  });

  it('list ready files and sign URLs on a server', async () => {
    const { api_key, project_slug } = site.tintype.instance;
    const bytes = await over(photograph(64, 48)).jpeg().toBuffer();
    const shoe = { bytes, content_type: 'image/jpeg', file_slug: 'red-shoe.jpg' };
    await upload(withKey(site.tintype, api_key), project_slug, shoe);
    const { list } = await examples.load('api.ts');
    expect(await list?.()).toContain('red-shoe.jpg');
    const { secret } = await examples.load('images.ts');
    expect(await secret?.()).toMatch(/\/resize\/320x\/f\/red-shoe\.jpg\?.*sig=/);
  });
});

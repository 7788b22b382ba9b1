// Spec: Upload helper codes; Upload helper constants. The browser client, in Chromium against a real Tintype, if
// responses are lost, an abort comes too late or a pause outlives the session: it reports published files, and their
// hook runs.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createUploadHandler,
  expressHandler,
  uploadRoute,
} from '../../../../runtime/sdk/server/sdk.ts';
import { lapseSession, lapseToken } from '../../../support/lapsed-upload.ts';
import { sharePage, startUploadSite, type UploadSite } from '../../../support/upload-site.ts';

let site: UploadSite;
let page: Page;
const takePage = sharePage();
let hooks = 0;
/** Uploads for which the handler gets an expired token. */
const lapsed = new Set<string>();
/** Actions that the handler received, and the uploads that it created. */
const asked: string[] = [];
const begun: string[] = [];

const SCRIPT = `
import { createUploader } from '/runtime/sdk/browser/uploader.ts';
const uploaders = {
  direct: createUploader({ endpoint: '/direct' }),
  proxy: createUploader({ endpoint: '/proxy' }),
};
window.begin = async (mode, name, input) => {
  const file = new File([await (await fetch('/' + name)).blob()], name, { type: 'image/jpeg' });
  window.sent = [];
  window.upload = uploaders[mode].upload('photo', file, { input, onProgress: (at) => sent.push(at) });
  window.ended = upload.done.catch(({ code, status }) => ({ code, status }));
};
document.title = 'ready';
`;

const photo = uploadRoute({
  accept: { 'image/*': {} },
  middleware: ({ request }) => ({ isBad: request.headers.get('x-bad') !== null }),
  onUploadComplete: ({ metadata }) => {
    hooks += 1;
    if (metadata.isBad) throw new Error('the row was not written');
    return { hooks };
  },
});

/** A handler that gets expired tokens for the uploads in `lapsed`. */
function offer(mode: 'direct' | 'proxy'): void {
  const { instance } = site.tintype;
  const { api_url: url, api_key: apiKey, project_slug: project } = instance;
  const options = { router: { photo }, url, apiKey, project, mode, onError: () => undefined };
  const handler = createUploadHandler(options);
  const late = async (request: Request): Promise<Response> => {
    const body = (await request.json()) as { action: string; token?: string };
    asked.push(body.action);
    const id = body.token?.split('.')[1] ?? '';
    const token = lapsed.has(id) ? lapseToken(instance, body.token ?? '') : body.token;
    const { headers, method } = request;
    const again = { method, headers, body: JSON.stringify({ ...body, token }) };
    const answer = await handler(new Request(request.url, again));
    if (body.action === 'prepare') {
      const { upload_id } = (await answer.clone().json()) as { upload_id: string };
      begun.push(upload_id);
    }
    return answer;
  };
  site.answers.set(`/${mode}`, expressHandler(late));
}

beforeAll(async () => {
  site = await startUploadSite(SCRIPT, photo);
  offer('direct');
  offer('proxy');
}, 300_000);
afterAll(() => site?.close());

beforeEach(async ({ onTestFailed }) => {
  page = await takePage(site, onTestFailed);
  hooks = 0;
  asked.length = 0;
  begun.length = 0;
});

const begin = (mode: string, name = 'small.jpg') =>
  page.evaluate(`begin('${mode}', '${name}', {})`);
const ended = () => page.evaluate('ended') as Promise<Record<string, unknown>>;

/** Lets every PUT reach the server; `answer`, given its number, decides if the response is lost. */
async function onPuts(answer: (number: number) => 'told' | 'lost' | Promise<void>): Promise<void> {
  let number = 0;
  await page.route(/./, async (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    const response = await route.fetch();
    number += 1;
    const outcome = await answer(number);
    if (outcome === 'lost') return route.abort('connectionreset');
    return route.fulfill({ response }).catch(() => undefined);
  });
}

describe('the browser client', { timeout: 300_000 }, () => {
  it.each([
    ['direct', 1],
    ['proxy', 1],
    // Every try loses its response.
    ['proxy', 4],
  ])(
    'returns a file sent by %s although the response to its PUT is lost %i times',
    async (mode, times) => {
      await onPuts((number) => (number <= times ? 'lost' : 'told'));
      await begin(mode);
      expect(await ended()).toMatchObject({ file: { width: 64 }, result: { hooks: 1 } });
      expect(await page.evaluate('sent.at(-1).phase')).toBe('processing');
    },
  );

  it('continues after a pause that interrupted only the response', async () => {
    const [arrived, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await onPuts((number) => {
      arrived.resolve();
      return number === 1 ? held.promise : 'told';
    });
    await begin('proxy');
    await arrived.promise;
    await page.evaluate('upload.pause()');
    held.resolve();
    await page.evaluate('upload.resume()');
    expect(await ended()).toMatchObject({ file: { width: 64 }, result: { hooks: 1 } });
  });

  it('returns the file if it is aborted after all bytes have arrived', async () => {
    await page.route('**/direct', async (route) => {
      const { action } = route.request().postDataJSON();
      if (action !== 'complete' || asked.includes('abort')) return route.continue();
      await route.fetch();
      await page.evaluate('upload.abort()');
    });
    await begin('direct');
    expect(await ended()).toMatchObject({ file: { width: 64 }, result: { hooks: 2 } });
    expect(asked).toEqual(['prepare', 'complete', 'abort', 'complete']);
  });

  it('returns the file although every attempt to complete it is answered with 502', async () => {
    await page.route('**/proxy', async (route) => {
      const { action } = route.request().postDataJSON();
      if (action !== 'complete' || asked.includes('abort')) return route.continue();
      asked.push('refused');
      return route.fulfill({ status: 502, json: { error: { code: 'api_unreachable' } } });
    });
    await begin('proxy');
    expect(await ended()).toMatchObject({ file: { width: 64 }, result: { hooks: 1 } });
    expect(asked).toEqual(['prepare', ...Array(4).fill('refused'), 'abort', 'complete']);
  });

  it.each([
    ['one piece', 'small.jpg'],
    ['parts', 'large.bmp'],
  ])(
    'ends with aborted if an upload in %s has expired only by the clock of the handler',
    async (_, name) => {
      await page.route(/_storage/, async () => {
        for (const id of begun) lapsed.add(id);
        await page.evaluate('upload.abort()');
      });
      await begin('direct', name);
      expect(await ended()).toEqual({ code: 'aborted', status: null });
      expect(asked).toEqual(['prepare', 'abort', 'complete']);
    },
  );

  it('ends with aborted if it is aborted before the bytes arrive, and prepares no other upload', async () => {
    await page.route(/_storage/, () => page.evaluate('upload.abort()'));
    await begin('direct');
    expect(await ended()).toEqual({ code: 'aborted', status: null });
    expect(asked).toEqual(['prepare', 'abort']);
  });

  it('reports a failed hook, and calls it only once', async () => {
    await page.setExtraHTTPHeaders({ 'x-bad': 'yes' });
    await begin('direct');
    expect(await ended()).toEqual({ code: 'on_upload_complete_failed', status: 500 });
    expect(hooks).toBe(1);
  });

  /** Pauses in the first PUT, before or after its bytes arrive, until session and token expire. */
  async function outlive(session: 'empty' | 'full'): Promise<void> {
    const held = Promise.withResolvers<void>();
    let isFirst = true;
    await page.route(/./, async (route) => {
      if (route.request().method() !== 'PUT' || !isFirst) return route.continue();
      isFirst = false;
      if (session === 'full') await route.fetch();
      await page.evaluate('upload.pause()');
      held.resolve();
    });
    await begin('proxy');
    await held.promise;
    for (const id of begun) {
      lapsed.add(id);
      await lapseSession(site.tintype.instance, id);
    }
  }

  it('prepares a new upload if it was paused for longer than its session lives', async () => {
    await outlive('empty');
    await page.evaluate('upload.resume()');
    const { upload_id, file } = await ended();
    expect({ upload_id, file }).toMatchObject({ upload_id: begun[1], file: { width: 64 } });
    expect(asked).toEqual(['prepare', 'abort', 'complete', 'prepare', 'complete']);
  });

  it('prepares no new upload if the bytes arrived before the session ended', async () => {
    await outlive('full');
    await page.evaluate('upload.resume()');
    expect(await ended()).toMatchObject({ upload_id: begun[0], result: { hooks: 1 } });
    expect(begun).toHaveLength(1);
  });

  it('prepares no new upload if it is aborted while it is paused', async () => {
    await outlive('empty');
    await page.evaluate('upload.abort()');
    expect(await ended()).toEqual({ code: 'aborted', status: null });
    expect(begun).toHaveLength(1);
  });

  it.each([
    ['the service', 'proxy', { code: 'content_type_mismatch', status: 415 }],
    ['a storage of its own', 'direct', { code: 'content_type_mismatch', status: 403 }],
  ])('reports why %s rejected the bytes, and aborts the upload', async (_who, mode, refused) => {
    await page.route(/./, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue();
      return route.continue({
        headers: { ...route.request().headers(), 'content-type': 'image/png' },
      });
    });
    await begin(mode);
    expect(await ended()).toEqual(refused);
    expect(asked).toEqual(['prepare', 'abort']);
  });

  it('reports invalid_response with the status if a storage answers in an unknown format', async () => {
    await page.route(/_storage/, (route) =>
      route.fulfill({ status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }),
    );
    await begin('direct');
    expect(await ended()).toEqual({ code: 'invalid_response', status: 403 });
  });
});

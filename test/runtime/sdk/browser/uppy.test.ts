// Spec: Upload helper constants. Uppy 5 with @uppy/aws-s3 and the upload handler: files in one piece and in parts,
// pausing and resuming, and a rejected file among others.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { browserClientErrors } from '../../../../runtime/core/browser-client-errors.ts';
import { processingErrors } from '../../../../runtime/core/errors.ts';
import {
  createUploadHandler,
  expressHandler,
  uploadRoute,
} from '../../../../runtime/sdk/server/sdk.ts';
import { readFences } from '../../../contract/support/blocks.ts';
import { projectRoot } from '../../../house/source-files.ts';
import type { Answering } from '../../../support/site.ts';
import {
  notePuts,
  openAgain,
  openPage,
  startUploadSite,
  type UploadSite,
} from '../../../support/upload-site.ts';

let site: UploadSite;
let page: Page;
let puts: number[];
let direct: Answering | string;
let hooks = 0;
let isBad = false;

const PAGE = `
import { Uppy } from '@uppy/core';
import AwsS3 from '@uppy/aws-s3';
import { tintypeForUppy } from 'tintype/sdk/uppy';
import { uppy as documented } from './uppy-page.ts';
const uppy = new Uppy();
const tintype = tintypeForUppy({ endpoint: '/upload', route: 'photo' });
uppy.use(AwsS3, tintype.options);
tintype.connect(uppy);
window.uppy = uppy;
window.documented = documented;
window.send = async (...files) => {
  for (const { name, type } of files) {
    const data = await (await fetch('/' + name)).blob();
    window.id = uppy.addFile({ name, type, data });
  }
  window.ended = uppy.upload().then(({ successful, failed }) => ({
    failed: failed.map(({ error }) => error),
    files: successful.map(({ meta }) => meta.tintype),
  }));
};
document.title = 'ready';
`;

/** Bundles the page's script into one file, as customers do. */
async function bundle(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-uppy-'));
  try {
    await writeFile(join(folder, 'page.js'), PAGE);
    const example = readFences('docs/sdk.md').find(({ name }) => name === 'uppy-page.ts');
    await writeFile(join(folder, 'uppy-page.ts'), example?.text ?? '');
    const resolve = {
      alias: { 'tintype/sdk/uppy': join(projectRoot, 'runtime/sdk/browser/uppy.ts') },
      modules: [join(projectRoot, 'node_modules')],
    };
    const made = await rolldown({ input: join(folder, 'page.js'), resolve });
    await made.write({ file: join(folder, 'bundle.js') });
    await made.close();
    return await readFile(join(folder, 'bundle.js'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}

const photo = uploadRoute({
  accept: { 'image/*': {} },
  onUploadComplete: () => {
    hooks += 1;
    if (isBad) throw new Error('the row was not written');
  },
});

/** Serves a handler in proxy mode, which sends the bytes through the service. */
function offerProxy(): void {
  const { api_url: url, api_key: apiKey, project_slug: project } = site.tintype.instance;
  const options = { router: { photo }, url, apiKey, project, mode: 'proxy' } as const;
  hooks = 0;
  site.answers.set('/upload', expressHandler(createUploadHandler(options)));
}

beforeAll(async () => {
  site = await startUploadSite(await bundle(), photo);
  direct = site.answers.get('/upload') ?? '';
  page = await site.browser.newPage();
  puts = notePuts(page);
}, 300_000);
beforeEach(async () => {
  await openAgain(page, site);
  puts.length = 0;
});
afterAll(() => site?.close());

const send = (...files: { name: string; type: string }[]) =>
  page.evaluate(`send(...${JSON.stringify(files)})`);
/** The number of parts that the browser's store has as sent, per upload. */
const KEPT = `new Promise((resolve) => {
  const opening = indexedDB.open('tintype-uploads');
  opening.onsuccess = () => {
    const reading = opening.result.transaction('uploads').objectStore('uploads').getAll();
    reading.onsuccess = () => resolve(reading.result.map(({ parts }) => parts.length));
  };
})`;
/** Records the actions that the page requests from the handler from now on. */
function noteActions(): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/upload')) asked.push(request.postDataJSON().action);
  });
  return asked;
}
const small = { name: 'small.jpg', type: 'image/jpeg' };

describe('Uppy 5', { timeout: 300_000 }, () => {
  it('sends a small file in one piece, and gets the published file', async () => {
    await send(small);
    expect(await page.evaluate('ended')).toMatchObject({ failed: [], files: [{ width: 64 }] });
    expect(puts).toEqual([0]);
  });

  it('sends a file with the example page of docs/sdk.md', async () => {
    const published = await page.evaluate(`(async () => {
      const data = await (await fetch('/small.jpg')).blob();
      const id = documented.addFile({ name: 'small.jpg', type: 'image/jpeg', data });
      await documented.upload();
      return documented.getFile(id).meta.tintype;
    })()`);
    expect(published).toMatchObject({ width: 64 });
  });

  it('sends a large file in parts, and continues after a pause', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route(/[?&]part=3/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await send({ name: 'large.bmp', type: 'image/bmp' });
    await expect.poll(() => puts.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
    await page.evaluate('uppy.pauseResume(id)');
    release();
    await page.evaluate('uppy.pauseResume(id)');
    expect(await page.evaluate('ended')).toMatchObject({ failed: [], files: [{ width: 2400 }] });
    expect(new Set(puts)).toEqual(new Set([1, 2, 3]));
  });

  it('resumes the same file after a reload with only the missing part', async () => {
    await page.route(/[?&]part=3/, () => undefined);
    await send({ name: 'large.bmp', type: 'image/bmp' });
    await expect.poll(() => puts.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
    await expect.poll(() => page.evaluate(KEPT)).toEqual([2]);
    // Leave the page first: otherwise it would still send the held requests.
    await page.goto('about:blank');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await openPage(page, site);
    puts.length = 0;
    await send({ name: 'large.bmp', type: 'image/bmp' });
    expect(await page.evaluate('ended')).toMatchObject({ failed: [], files: [{ width: 2400 }] });
    expect(puts).toEqual([3]);
    // A published file is uploaded from the beginning, not resumed.
    await openPage(page, site);
    puts.length = 0;
    await send({ name: 'large.bmp', type: 'image/bmp' });
    expect(await page.evaluate('ended')).toMatchObject({ failed: [] });
    expect(new Set(puts)).toEqual(new Set([1, 2, 3]));
  });

  it('gets one session for repeated prepare calls, and aborts what did not arrive', async () => {
    const asked: { action: string; answer: { upload_id?: string; status?: string } }[] = [];
    await page.route('**/upload', async (route) => {
      const response = await route.fetch();
      asked.push({ action: route.request().postDataJSON().action, answer: await response.json() });
      return asked.length === 1 ? route.abort() : route.fulfill({ response });
    });
    await page.route(/_storage/, (route) => route.abort());
    await send(small);
    expect(await page.evaluate('ended')).toMatchObject({ files: [] });
    await page.evaluate('uppy.retryUpload(id)');
    await expect
      .poll(() => asked.map(({ action }) => action))
      .toEqual(['prepare', 'prepare', 'abort']);
    expect(asked[1]?.answer.upload_id).toBe(asked[0]?.answer.upload_id);
    expect(asked[2]?.answer).toEqual({ status: 'aborted' });
  });

  it('gets the published file although the responses to its PUT are lost', async () => {
    offerProxy();
    try {
      await page.route(/./, async (route) => {
        if (route.request().method() !== 'PUT') return route.continue();
        await route.fetch();
        return route.abort('connectionreset');
      });
      await send(small);
      expect(await page.evaluate('ended')).toMatchObject({ failed: [], files: [{ width: 64 }] });
      expect(await page.evaluate('uppy.getFile(id).progress')).toMatchObject({ complete: true });
      expect(await page.evaluate('uppy.getState().error')).toBeNull();
      expect(hooks).toBe(1);
    } finally {
      site.answers.set('/upload', direct);
    }
  });

  it('continues in the same session after a pause that interrupted only the response', async () => {
    offerProxy();
    try {
      const arrived = Promise.withResolvers<void>();
      const asked = noteActions();
      let isArrived = false;
      await page.route(/./, async (route) => {
        if (route.request().method() !== 'PUT') return route.continue();
        const response = await route.fetch();
        if (!isArrived) await page.evaluate('uppy.pauseResume(id)');
        isArrived = true;
        arrived.resolve();
        return route.fulfill({ response }).catch(() => undefined);
      });
      await send(small);
      await arrived.promise;
      await page.evaluate('uppy.pauseResume(id)');
      expect(await page.evaluate('ended')).toMatchObject({ failed: [], files: [{ width: 64 }] });
      expect(asked.filter((action) => action === 'prepare')).toHaveLength(1);
      expect(hooks).toBe(1);
    } finally {
      site.answers.set('/upload', direct);
    }
  });

  /** Loses the responses to `complete` for all tries of one call; the handler still gets them. */
  async function loseCompletes(): Promise<void> {
    let lost = 0;
    await page.route('**/upload', async (route) => {
      if (route.request().postDataJSON().action !== 'complete' || lost === 4)
        return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
  }

  it('gets a file sent in one piece although the responses to complete are lost', async () => {
    await loseCompletes();
    const asked = noteActions();
    await send(small);
    expect(await page.evaluate('ended')).toMatchObject({ failed: [], files: [{ width: 64 }] });
    expect(asked.slice(-2)).toEqual(['abort', 'complete']);
  });

  it('keeps the parts of a large file if the responses to complete are lost', async () => {
    await loseCompletes();
    const asked = noteActions();
    await send({ name: 'large.bmp', type: 'image/bmp' });
    expect(await page.evaluate('ended')).toMatchObject({ files: [] });
    puts.length = 0;
    await page.evaluate('uppy.retryUpload(id)');
    expect(await page.evaluate('uppy.getFile(id).meta.tintype')).toMatchObject({ width: 2400 });
    expect(puts).toEqual([]);
    expect(asked).toEqual(['prepare', ...Array(5).fill('complete')]);
  });

  it('calls a failing hook only once', async () => {
    const asked = noteActions();
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('"action":"abort"') === true,
    );
    hooks = 0;
    isBad = true;
    await send({ name: 'large.bmp', type: 'image/bmp' });
    expect(await page.evaluate('ended')).toMatchObject({ files: [] });
    isBad = false;
    await (await answered).finished();
    await page.evaluate(`fetch('/small.jpg').then(() => undefined)`);
    expect(asked).toEqual(['prepare', 'complete', 'abort']);
    expect(hooks).toBe(1);
  });

  it('reports which of several files was refused, and the published files of the others', async () => {
    await send({ name: 'torn.jpg', type: 'image/jpeg' }, small);
    expect(await page.evaluate('ended')).toMatchObject({
      failed: [expect.stringContaining(processingErrors.unsupported_media_type.message)],
      files: [{ width: 64 }],
    });
  });

  it('fails only a large file that was deleted since it was chosen, and prepares no upload for it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tintype-chosen-'));
    const path = join(folder, 'chosen.bmp');
    await writeFile(path, Buffer.alloc(20 * 1024 * 1024));
    await page.evaluate(
      'document.body.append(Object.assign(document.createElement("input"), { type: "file", id: "it" }))',
    );
    await page.setInputFiles('#it', path);
    await page.evaluate(`(() => {
      const [data] = document.querySelector('#it').files;
      uppy.addFile({ name: data.name, type: data.type, data });
    })()`);
    await rm(folder, { recursive: true });
    const asked = noteActions();
    await send(small);
    expect(await page.evaluate('ended')).toMatchObject({
      failed: [expect.stringContaining(browserClientErrors.file_mismatch)],
      files: [{ width: 64 }],
    });
    expect(asked.filter((action) => action === 'prepare')).toHaveLength(1);
  });

  it.each(['uppy.removeFile(id)', 'uppy.cancelAll()'])(
    'aborts a file sent in one piece as soon as it is removed by %s',
    async (takeBack) => {
      const asked = noteActions();
      const { promise: isSent, resolve: noteSent } = Promise.withResolvers<void>();
      await page.route(/_storage/, () => noteSent());
      await send(small);
      await isSent;
      await page.evaluate(takeBack);
      await expect.poll(() => asked).toEqual(['prepare', 'abort']);
      expect(await page.evaluate('ended')).toMatchObject({ files: [] });
    },
  );

  it('aborts on the server what is canceled while the page closes', async () => {
    await page.route(/[?&]part=/, () => undefined);
    await send({ name: 'large.bmp', type: 'image/bmp' });
    const upload_id = 'uppy.getFile(id).s3Multipart?.uploadId ?? ""';
    await expect.poll(() => page.evaluate(upload_id), { timeout: 30_000 }).toMatch(/^upl_/);
    const { api_url, api_key, project_slug } = site.tintype.instance;
    const url = `${api_url}/v1/projects/${project_slug}/uploads/${await page.evaluate(upload_id)}`;
    await page.evaluate('window.addEventListener("pagehide", () => uppy.cancelAll())');
    await page.goto('about:blank');
    const look = async () => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${api_key}` } });
      return answer.json();
    };
    await expect.poll(look, { timeout: 10_000 }).toMatchObject({ status: 'expired' });
  });
});

/**
 * A shop with an upload page: a site on another origin with the upload handler, a real Tintype, and Chromium. The
 * site's server offers a small image, and two large ones of three parts each.
 */
import type { ServerResponse } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import type { TestContext } from 'vitest';
import {
  createUploadHandler,
  expressHandler,
  type UploadRoute,
} from '../../runtime/sdk/server/sdk.ts';
import { takeTintype, type UsedTintype } from '../contract/support/shared-tintype.ts';
import { wrapBmp } from './bmp.ts';
import { startBrowser } from './browser.ts';
import { over, photograph } from './pictures.ts';
import { PAGE_PATH, pageOf, type Site, startSite } from './site.ts';

export type UploadSite = Pick<Site, 'origin' | 'answers'> & {
  tintype: UsedTintype;
  browser: Browser;
  close(): Promise<void>;
};

/**
 * `program` is the module of the page, which sets the title to `ready`. The handler offers the
 * route `photo` under the names `photo` and `gallery`.
 */
export async function startUploadSite(program: string, photo: UploadRoute): Promise<UploadSite> {
  const [tintype, browser, site] = await Promise.all([takeTintype(), startBrowser(), startSite()]);
  const { api_url: url, api_key: apiKey, project_slug: project } = tintype.instance;
  const handler = createUploadHandler({ router: { photo, gallery: photo }, url, apiKey, project });
  const send = (bytes: Buffer) => async (_: unknown, response: ServerResponse) =>
    void response.end(bytes);
  site.answers.set(PAGE_PATH, pageOf(program));
  site.answers.set('/upload', expressHandler(handler));
  site.answers.set('/small.jpg', send(await over(photograph(64, 48)).jpeg().toBuffer()));
  site.answers.set('/large.bmp', send(largePicture(2400)));
  site.answers.set('/other.bmp', send(largePicture(2401)));
  site.answers.set('/torn.jpg', send(Buffer.from('no picture')));
  return {
    ...{ tintype, browser },
    ...{ origin: site.origin, answers: site.answers },
    close: async () => {
      await browser.close();
      await Promise.all([site.close(), tintype.stop()]);
    },
  };
}

const largePicture = (height: number) => {
  const rows = Buffer.alloc(2400 * 3 * height, 0x80);
  return wrapBmp({ width: 2400, height }, { bits: 24 }, { rows, compression: 0 });
};

/** The page's modules have run when it has loaded. */
export async function openPage(page: Page, { origin }: UploadSite): Promise<void> {
  await page.goto(origin + PAGE_PATH);
  if ((await page.title()) !== 'ready') throw new Error('the page did not run its module');
}

/**
 * Loads the page again, without routes, headers and what it has stored. It keeps Chromium's process,
 * whose start takes longer than the page does.
 */
export async function openAgain(page: Page, site: UploadSite): Promise<void> {
  // Leave the page first: otherwise it would still send the held requests.
  await page.goto('about:blank');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.context().setOffline(false);
  await page.setExtraHTTPHeaders({});
  await openPage(page, site);
  await page.evaluate(FORGET);
}

type Take = (site: UploadSite, onTestFailed: TestContext['onTestFailed']) => Promise<Page>;

/** One page for the tests of a file; a failed test drops it, so that its retry gets a new one. */
export function sharePage(): Take {
  let page: Page | undefined;
  return async (site, onTestFailed) => {
    page ??= await site.browser.newPage();
    await openAgain(page, site);
    onTestFailed(async () => {
      await page?.close();
      page = undefined;
    });
    return page;
  };
}

const FORGET = `new Promise((resolve, reject) => {
  const deleting = indexedDB.deleteDatabase('tintype-uploads');
  deleting.onsuccess = () => resolve();
  deleting.onblocked = reject;
})`;

/** Records the part numbers of successful PUTs from now on, only here; 0 is an upload in one piece. */
export function notePuts(page: Page): number[] {
  const puts: number[] = [];
  page.removeAllListeners('requestfinished');
  page.on('requestfinished', (request) => {
    if (request.method() !== 'PUT') return;
    puts.push(Number(new URL(request.url()).searchParams.get('part') ?? 0));
  });
  return puts;
}

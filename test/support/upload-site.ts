/**
 * A shop with an upload page: a site on another origin with the upload handler, a real Tintype, and Chromium. The
 * site's server offers a small image, and two large ones of three parts each.
 */
import type { ServerResponse } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import {
  createUploadHandler,
  expressHandler,
  type UploadRoute,
} from '../../runtime/sdk/server/sdk.ts';
import { removeFolder, startTintype, type Tintype } from '../contract/support/tintype.ts';
import { wrapBmp } from './bmp.ts';
import { startBrowser } from './browser.ts';
import { over, photograph } from './pictures.ts';
import { PAGE_PATH, pageOf, type Site, startSite } from './site.ts';

export type UploadSite = Pick<Site, 'origin' | 'answers'> & {
  tintype: Tintype;
  browser: Browser;
  close(): Promise<void>;
};

/**
 * `program` is the module of the page, which sets the title to `ready`. The handler offers the
 * route `photo` under the names `photo` and `gallery`.
 */
export async function startUploadSite(program: string, photo: UploadRoute): Promise<UploadSite> {
  const [tintype, browser, site] = await Promise.all([startTintype(), startBrowser(), startSite()]);
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
      await Promise.all([site.close(), tintype.end('SIGTERM')]);
      await removeFolder(tintype.data);
    },
  };
}

const largePicture = (height: number) => {
  const rows = Buffer.alloc(2400 * 3 * height, 0x80);
  return wrapBmp({ width: 2400, height }, { bits: 24 }, { rows, compression: 0 });
};

export async function openPage(page: Page, { origin }: UploadSite): Promise<void> {
  await page.goto(origin + PAGE_PATH);
  await page.waitForFunction('document.title === "ready"');
}

/** Records the part numbers of successful PUTs from now on; 0 is an upload in one piece. */
export function notePuts(page: Page): number[] {
  const puts: number[] = [];
  page.on('requestfinished', (request) => {
    if (request.method() !== 'PUT') return;
    puts.push(Number(new URL(request.url()).searchParams.get('part') ?? 0));
  });
  return puts;
}

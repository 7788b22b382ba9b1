/**
 * A shop that embeds the picker: a real Tintype with a library of images, a site on another origin whose server mints
 * sessions, and Chromium. Errors of all frames are recorded.
 */
import { text } from 'node:stream/consumers';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { withKey } from '../contract/support/client.ts';
import { removeFolder, startTintype, type Tintype } from '../contract/support/tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { startBrowser } from './browser.ts';
import { over, photograph } from './pictures.ts';
import { PAGE_PATH, pageOf, type Site, startSite } from './site.ts';

export type PickerSite = {
  tintype: Tintype;
  browser: Browser;
  /** The site on an origin that the library allows. */
  shop: Site;
  /** A site on an origin that the library does not allow. */
  stranger: Site;
  /** The mint request that the shop's server sends; tests change it. */
  mint: Record<string, unknown>;
  /**
   * The expiring tokens for which the picker asked for a new session; null for the first session.
   */
  refreshed: (string | null)[];
  close(): Promise<void>;
};

const SCRIPT = `
import { openPicker, definePicker } from '/runtime/sdk/browser/picker.ts';
const session = async (refreshOf) => {
  const answer = await fetch('/session', { method: 'POST', body: JSON.stringify({ refreshOf }) });
  if (!answer.ok) throw new Error('the shop refused');
  return answer.json();
};
window.received = [];
window.pick = (settings) => {
  window.opened = openPicker({
    session,
    onUpload: (upload) => received.push(['upload', upload.name, upload.status, upload.code]),
    onError: ({ code }) => received.push(['error', code]),
    ...settings,
  });
  window.chosen = opened.chosen.then((files) => files && files.map(({ file_slug }) => file_slug));
};
window.inline = (options) => {
  definePicker();
  const picker = document.createElement('tintype-picker');
  picker.style.height = '500px';
  picker.options = { ...options, session };
  for (const type of ['select', 'upload', 'error', 'close']) {
    picker.addEventListener('tintype-' + type, ({ detail }) => received.push([type, detail]));
  }
  document.body.append(picker);
};
document.title = 'ready';
`;

export async function startPickerSite(): Promise<PickerSite> {
  const [tintype, browser, shop, stranger] = await Promise.all([
    startTintype(),
    startBrowser(),
    startSite(),
    startSite('localhost'),
  ]);
  const { api_key, project_slug } = tintype.instance;
  const api = withKey(tintype, api_key);
  const libraries = `/v1/projects/${project_slug}/libraries`;
  await api('POST', libraries, { slug: 'press', name: 'Press', allowed_origins: [shop.origin] });
  const mint: PickerSite['mint'] = {};
  const refreshed: PickerSite['refreshed'] = [];
  for (const { answers } of [shop, stranger])
    answers.set(PAGE_PATH, pageOf(SCRIPT, '<h1>A shop</h1>'));
  shop.answers.set('/session', async (request, response) => {
    const { refreshOf } = JSON.parse(await text(request));
    refreshed.push(refreshOf);
    const answer = await api('POST', `/v1/projects/${project_slug}/library-sessions`, {
      library: 'press',
      permissions: ['browse', 'upload'],
      origin: shop.origin,
      subject: 'user-1',
      ...mint,
      ...(refreshOf === null ? {} : { refresh_of: refreshOf }),
    });
    const headers = { 'content-type': 'application/json' };
    response.writeHead(answer.status, headers).end(JSON.stringify(answer.body));
  });
  return {
    ...{ tintype, browser, shop, stranger, mint, refreshed },
    close: async () => {
      await browser.close();
      await Promise.all([shop.close(), stranger.close(), tintype.end('SIGTERM')]);
      await removeFolder(tintype.data);
    },
  };
}

/** Publishes an image with this slug in the library. */
export async function addPicture(
  { tintype }: Pick<PickerSite, 'tintype'>,
  file_slug: string,
  place: { folder?: string; seed?: number; width?: number; height?: number } = {},
): Promise<void> {
  const { seed = 1, width = 96, height = 72, folder = '' } = place;
  const api = withKey(tintype, tintype.instance.api_key);
  const bytes = await over(photograph(width, height, seed))
    .jpeg()
    .toBuffer();
  const picture = { bytes, content_type: 'image/jpeg', file_slug, library: 'press', folder };
  const ended = await upload(api, tintype.instance.project_slug, picture);
  if (ended.status !== 'ready') throw new Error(`${file_slug} ended ${ended.error_code}`);
}

export type Shown = { page: Page; frame: FrameLocator; complaints: string[] };

/**
 * Opens the shop's page in a new browser context. Records the errors of all frames, except messages
 * about failed requests.
 */
export async function visit(
  { browser, shop }: PickerSite,
  { width = 1280, height = 800, locale = 'en-US', at = shop.origin + PAGE_PATH } = {},
): Promise<Shown> {
  const context = await browser.newContext({ viewport: { width, height }, locale });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(at);
  await page.waitForFunction('document.title === "ready"');
  return { page, frame: page.frameLocator('iframe'), complaints };
}

export function picture(seed: number): Promise<Buffer> {
  return over(photograph(64, 48, seed))
    .jpeg()
    .toBuffer();
}

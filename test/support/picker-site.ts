/**
 * A shop that embeds the picker: a real Tintype with a library of images, a site on another origin whose server mints
 * sessions, and Chromium. Errors of all frames are recorded.
 */
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContextOptions, FrameLocator, Page } from 'playwright-core';
import { withKey } from '../contract/support/client.ts';
import { takeTintype, type UsedTintype } from '../contract/support/shared-tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { startBrowser } from './browser.ts';
import { over, photograph } from './pictures.ts';
import { PAGE_PATH, pageOf, type Site, startSite } from './site.ts';

export type PickerSite = {
  tintype: UsedTintype;
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
    takeTintype(),
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
      await Promise.all([shop.close(), stranger.close(), tintype.stop()]);
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

type Visit = Pick<BrowserContextOptions, 'locale' | 'reducedMotion'> & {
  width?: number;
  height?: number;
  at?: string;
};

const SCREEN = { width: 800, height: 600 };

/**
 * Opens the shop's page in a new browser context. Records the errors of all frames, except messages
 * about failed requests. Images appear at once, because Chromium draws each step of a transition.
 */
export async function visit(
  { browser, shop }: PickerSite,
  { at = shop.origin + PAGE_PATH, width, height, ...media }: Visit = {},
): Promise<Shown> {
  const viewport = { width: width ?? SCREEN.width, height: height ?? SCREEN.height };
  const context = await browser.newContext({
    ...{ viewport, locale: 'en-US', reducedMotion: 'reduce' },
    ...media,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await open(page, at);
  return { page, frame: page.frameLocator('iframe'), complaints };
}

/**
 * Loads the shop's page again. It keeps Chromium's process, whose start takes longer than the page
 * does, but no routes, and the screen and the mouse are as at the beginning.
 */
export async function visitAgain({ shop }: PickerSite, { page, complaints }: Shown): Promise<void> {
  // Leave the page first: otherwise it would still send the held requests.
  await page.goto('about:blank');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.mouse.move(0, 0);
  await page.setViewportSize(SCREEN);
  await open(page, shop.origin + PAGE_PATH);
  complaints.length = 0;
}

/** The page's modules have run when it has loaded. */
async function open(page: Page, at: string): Promise<void> {
  await page.goto(at);
  if ((await page.title()) !== 'ready') throw new Error(`${at} did not run its modules`);
}

export function picture(seed: number): Promise<Buffer> {
  return over(photograph(64, 48, seed))
    .jpeg()
    .toBuffer();
}

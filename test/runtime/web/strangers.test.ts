// Spec: Library sessions and the picker. In Chromium: only a page of the registered origin may frame the picker, as its
// direct parent, and only messages between the two are accepted.
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { withKey } from '../../contract/support/client.ts';
import { addPicture, type PickerSite, startPickerSite, visit } from '../../support/picker-site.ts';
import { PAGE_PATH, pageOf } from '../../support/site.ts';

let site: PickerSite;
let session: { token: string; embed_url: string };

beforeAll(async () => {
  site = await startPickerSite();
  await addPicture(site, 'harbour.jpg');
  const answer = await fetch(`${site.shop.origin}/session`, {
    method: 'POST',
    body: '{"refreshOf":null}',
  });
  session = (await answer.json()) as typeof session;
  // Both sites get a page that frames any URL and records all messages.
  const framing = pageOf(`
    window.heard = [];
    addEventListener('message', ({ data, origin }) => heard.push({ ...data, origin }));
    window.frameIt = (src, sandbox) => new Promise((loaded) => {
      const frame = document.createElement('iframe');
      if (sandbox !== undefined) frame.setAttribute('sandbox', sandbox);
      frame.onload = loaded;
      frame.src = src;
      document.body.append(frame);
    });
    document.title = 'ready';
  `);
  for (const { answers } of [site.shop, site.stranger]) answers.set('/framing', framing);
}, 300_000);
afterAll(() => site?.close());

const frames = async (page: Page | Frame, src: string, sandbox?: string) => {
  await page.evaluate(`frameIt(${JSON.stringify(src)}, ${JSON.stringify(sandbox)})`);
};
/** Whether a frame shows the picker, rather than the error page of a blocked frame. */
const isShown = (page: Page) =>
  page.frames().some((frame) => frame.url().startsWith(new URL(session.embed_url).origin));
const at = (origin: string) => visit(site, { at: `${origin}/framing` });

describe('the picker’s frame', { timeout: 300_000 }, () => {
  it('is shown in a page of the registered origin', async () => {
    const { page } = await at(site.shop.origin);
    await frames(page, session.embed_url);
    expect(isShown(page)).toBe(true);
    await page.waitForFunction('heard.length > 0');
    expect(await page.evaluate('heard.map(({ type }) => type)')).toEqual(['ready']);
    await page.context().close();
  });

  it('works in a page of the registered origin however its port is written', async () => {
    site.mint['origin'] = 'http://localhost:80';
    onTestFinished(() => void delete site.mint['origin']);
    const { api_key, project_slug } = site.tintype.instance;
    const path = `/v1/projects/${project_slug}/libraries/press`;
    const changed = { allowed_origins: [site.shop.origin, site.mint['origin']] };
    await withKey(site.tintype, api_key)('PATCH', path, changed);
    const { page } = await visit(site);
    // Only the browser resolves http://localhost to the shop; nothing listens there.
    await page.route('http://localhost/**', (route) =>
      route.continue({ url: site.shop.origin + new URL(route.request().url()).pathname }),
    );
    await page.goto(`http://localhost${PAGE_PATH}`);
    await page.evaluate('pick({})');
    await page.frameLocator('iframe').getByRole('option').waitFor();
    await page.context().close();
  });

  it('is not shown in a page of another origin', async () => {
    const { page } = await at(site.stranger.origin);
    await frames(page, session.embed_url);
    expect(isShown(page)).toBe(false);
    await page.context().close();
  });

  it('is not shown in the registered origin if that is framed by another origin', async () => {
    const { page } = await at(site.stranger.origin);
    await frames(page, `${site.shop.origin}/framing`);
    const inner = page.frames().find((frame) => frame.url().startsWith(site.shop.origin));
    if (inner === undefined) throw new Error('the shop is not there');
    await frames(inner, session.embed_url);
    expect(isShown(page)).toBe(false);
    await page.context().close();
  });

  it('is not shown in a sandboxed page of the registered origin', async () => {
    const { page } = await at(site.shop.origin);
    await frames(page, `${site.shop.origin}/framing`, 'allow-scripts');
    const inner = page.frames().find((frame) => frame.parentFrame() !== null);
    if (inner === undefined) throw new Error('the sandbox is not there');
    await frames(inner, session.embed_url);
    expect(isShown(page)).toBe(false);
    await page.context().close();
  });

  it('shows only a notice unless it is a direct child of the top-level page', async () => {
    const { page } = await at(site.shop.origin);
    await frames(page, `${site.shop.origin}/framing`);
    const inner = page.frames().find((frame) => frame.parentFrame() !== null);
    if (inner === undefined) throw new Error('the inner page is not there');
    await frames(inner, session.embed_url);
    const picker = page.frames().find((frame) => frame.url().includes('/embed/'));
    expect(await picker?.locator('body').textContent()).toMatch(/works only inside the page/);
    await page.goto(session.embed_url);
    expect(await page.locator('body').textContent()).toMatch(/works only inside the page/);
    await page.context().close();
  });
});

describe('the picker’s messages', { timeout: 300_000 }, () => {
  /** Posts a message from the window of `from`. */
  const post = (from: Page | Frame, message: object, target: string) =>
    from.evaluate(`${target}.postMessage(${JSON.stringify(message)}, '*')`);
  const isOpen = (picker: Frame) => picker.locator('footer').count();

  it('are accepted by the frame only from its parent, on the channel of this load, each once', async () => {
    const { page } = await at(site.shop.origin);
    await frames(page, session.embed_url);
    await frames(page, `${site.stranger.origin}/framing`);
    await frames(page, `${site.shop.origin}/framing`);
    await page.waitForFunction('heard.length > 0');
    const [ready] = (await page.evaluate('heard')) as { channel: string; origin: string }[];
    expect(ready).toMatchObject({ origin: new URL(session.embed_url).origin });
    const byUrl = (part: string) => {
      const found = page
        .frames()
        .find((each) => each !== page.mainFrame() && each.url().includes(part));
      if (found === undefined) throw new Error(`no frame of ${part}`);
      return found;
    };
    const picker = byUrl('/embed/');
    const { token } = session;
    const channel = ready?.channel;
    const good = {
      tintype: 'picker',
      v: 1,
      type: 'session',
      channel,
      number: 1,
      token,
      settings: {},
    };
    await post(byUrl(site.stranger.origin), good, 'parent.frames[0]');
    await post(byUrl(`${site.shop.origin}/framing`), good, 'parent.frames[0]');
    await post(picker, good, 'window');
    for (const wrong of [
      { channel: 'other' },
      { v: 2 },
      { tintype: 'x' },
      { token: 5 },
      { number: '1' },
    ])
      await post(page, { ...good, ...wrong }, 'frames[0]');
    expect(await isOpen(picker)).toBe(0);
    await post(page, good, 'frames[0]');
    await picker.getByRole('option').waitFor();
    // A repeated number and older ones. Their token would be rejected if it were used.
    const worse = { ...good, token: 'ls1.a.b.c' };
    for (const number of [1, 0, -1]) await post(page, { ...worse, number }, 'frames[0]');
    await picker.getByRole('searchbox').fill('harbour');
    await picker.getByRole('option').waitFor();
    expect(await page.evaluate('heard.map(({ type }) => type)')).toEqual(['ready']);
    await page.context().close();
  });

  /** Dispatches a message event with a forged origin and source. */
  const hear = (where: Page | Frame, message: object, from: { origin: string; source: string }) =>
    where.evaluate(`dispatchEvent(new MessageEvent('message', {
      data: ${JSON.stringify(message)}, origin: '${from.origin}', source: ${from.source} }))`);
  /** The shop's page with an open picker, and the channel of their messages. */
  const picking = async () => {
    const { page } = await visit(site);
    await page.evaluate(
      `addEventListener('message', ({ data }) => { window.channel = data.channel; })`,
    );
    await page.evaluate('pick({})');
    await page.waitForFunction('window.channel !== undefined');
    const picker = page.frames().find((each) => each.url().includes('/embed/'));
    if (picker === undefined) throw new Error('the picker is not there');
    await picker.getByRole('option').waitFor();
    const stamp = { tintype: 'picker', v: 1, channel: await page.evaluate('channel') };
    return { page, picker, stamp, service: new URL(session.embed_url).origin };
  };
  const ELSEWHERE = 'https://elsewhere.example';

  it('are accepted by the page only if both the origin and the window are those of the frame', async () => {
    const { page, stamp, service } = await picking();
    const close = { ...stamp, type: 'close', number: 1000 };
    await hear(page, close, { origin: ELSEWHERE, source: 'frames[0]' });
    await hear(page, close, { origin: service, source: 'window' });
    await hear(page, close, { origin: service, source: 'null' });
    expect(await page.locator('iframe').count()).toBe(1);
    await hear(page, close, { origin: service, source: 'frames[0]' });
    await expect.poll(() => page.locator('iframe').count()).toBe(0);
    await page.context().close();
  });

  it('are accepted by the frame only if both the origin and the window are those of the page', async () => {
    const { page, picker, stamp } = await picking();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.headers()['authorization'] ?? ''));
    const other = { ...stamp, type: 'session', number: 1000, settings: {} };
    const token = 'ls1.a.b.c';
    await hear(picker, { ...other, token }, { origin: ELSEWHERE, source: 'parent' });
    await hear(picker, { ...other, token }, { origin: site.shop.origin, source: 'window' });
    await picker.getByRole('searchbox').fill('harb');
    await picker.getByRole('option').waitFor();
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect(asked).not.toContain(`Bearer ${token}`);
    await hear(picker, { ...other, token }, { origin: site.shop.origin, source: 'parent' });
    await picker.getByRole('searchbox').fill('harbour');
    await expect.poll(() => asked).toContain(`Bearer ${token}`);
    await page.context().close();
  });

  it('carry no token to another page to which the frame has navigated', async () => {
    const { page, picker, stamp, service } = await picking();
    await picker.goto(`${site.stranger.origin}/framing`);
    const before = site.refreshed.length;
    const refresh = { ...stamp, type: 'refresh', code: 'session_expired', number: 1000 };
    await hear(page, refresh, { origin: service, source: 'frames[0]' });
    await expect.poll(() => site.refreshed.length).toBe(before + 1);
    // Allows a message with a token, if one were sent, to arrive before the last one.
    await page.waitForTimeout(200);
    await page.evaluate(`frames[0].postMessage({ type: 'last' }, '*')`);
    await picker.waitForFunction(`heard.some(({ type }) => type === 'last')`);
    expect(await picker.evaluate('heard.map(({ type }) => type)')).toEqual(['last']);
    await page.context().close();
  });

  it('are ignored by the page if they are not on the channel of the frame', async () => {
    const { page } = await visit(site);
    await page.evaluate('pick()');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('option').waitFor();
    const false_ = { tintype: 'picker', v: 1, type: 'select', files: [], channel: 'x', number: 99 };
    await post(page, false_, 'window');
    const picker = page.frames().find((each) => each.url().includes('/embed/'));
    if (picker === undefined) throw new Error('the picker is not there');
    await post(picker, false_, 'parent');
    await post(picker, { ...false_, type: 'close' }, 'parent');
    await frame.getByRole('option').dblclick();
    expect(await page.evaluate('chosen')).toEqual(['harbour.jpg']);
    await page.context().close();
  });
});

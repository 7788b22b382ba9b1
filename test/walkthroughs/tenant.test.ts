// Runs docs/walkthroughs/tenant.md as written, on a fresh Tintype. Chromium sends the scan and loses its network
// midway. A free port replaces port 3000.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFences, readShellBlocks } from '../contract/support/blocks.ts';
import { readStart } from '../contract/support/start-line.ts';
import {
  makeFolder,
  projectRoot,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { over, photograph } from '../support/pictures.ts';
import { type FaultProxy, startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { openShell, type Shell, typeBlock } from './support/shell.ts';

const DOCUMENT = 'docs/walkthroughs/tenant.md';
/** The scan that the document creates, in parts of 8 MiB. */
const SCAN = { width: 8000, bytes: 54 + 8000 * 6250 * 4 };
const PARTS = Array.from({ length: Math.ceil(SCAN.bytes / 2 ** 23) }, (_, index) => index + 1);
const AWAY = 'The network or the site is away';
/** Ends a hanging test; this is not a goal for the duration. */
const SCAN_MS_MAX = 180_000;

let folder: string;
let port: number;
let tintype: Tintype;
let shell: Shell;
let browser: Browser;
let blocks: string[];
/** A second site, whose way to Tintype can fail. */
let site: ChildProcess | undefined;
let way: FaultProxy;
let shaky: string;

beforeAll(async () => {
  [folder, port, browser, tintype] = await Promise.all([
    makeFolder(),
    freePort(),
    startBrowser(),
    startTintype({ env: readStart(DOCUMENT).env }),
  ]);
  await symlink(join(projectRoot, 'docs'), join(folder, 'docs'));
  blocks = readShellBlocks(DOCUMENT).map(here);
  shell = openShell({ folder, tintype });
}, 300_000);

afterAll(async () => {
  site?.kill();
  await Promise.all([shell?.close(), browser?.close(), tintype?.end('SIGTERM'), way?.close()]);
  await Promise.all([folder, tintype?.data].map(removeFolder));
});

/** Replaces the document's port by the free one. */
function here(text: string): string {
  return text.replaceAll('3000', String(port));
}

/** Starts the document's site again, with an empty cache, behind a proxy that injects faults. */
async function startShakySite(): Promise<void> {
  way = await startFaultProxy({ port: Number(new URL(tintype.instance.api_url).port) });
  const own = String(await freePort());
  const file = 'docs/walkthroughs/tenant/server.js';
  const words = [file, `http://127.0.0.1:${way.port}`, 'kite', own];
  site = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(site.stdout ?? expect.fail('its output is piped'), 'data');
  shaky = `http://localhost:${own}`;
}

/** Chooses a small picture on the page of a site. */
async function chooseSmall(page: Page, address: string): Promise<void> {
  const buffer = await over(photograph(40, 30)).jpeg().toBuffer();
  await page.goto(address);
  await page.locator('input').setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
}

const typeNext = () => typeBlock(shell, blocks);

describe('a tenant’s engineer', { shuffle: false, timeout: 120_000, retry: 0 }, () => {
  it('creates a project and a key for it', async () => {
    expect(JSON.parse(await typeNext())).toMatchObject({ project_slug: 'kite' });
    await typeNext();
  });

  it(
    'uploads a scan in parts, and resumes where it stopped once the network is back',
    async () => {
      await typeNext();
      const scan = join(folder, 'kite/scan.bmp');
      expect((await stat(scan)).size).toBe(SCAN.bytes);
      const page = await browser.newPage();
      // 200 MB are sent and decoded.
      page.setDefaultTimeout(SCAN_MS_MAX);
      const puts: number[] = [];
      page.on('response', (response) => {
        const part = new URL(response.url()).searchParams.get('part');
        if (response.request().method() === 'PUT') puts.push(Number(part));
      });
      await page.goto(`http://localhost:${port}`);
      // Before the upload there is no image to sign a URL for, so the page must not redirect
      // viewers.
      const image = await fetch(`http://localhost:${port}/image`, { redirect: 'manual' });
      expect(image.status).toBe(502);
      await page.route(
        /[?&]part=2\b/,
        async (route) => {
          await page.context().setOffline(true);
          await route.continue();
        },
        { times: 1 },
      );
      const ended = typeNext();
      await page.locator('input').setInputFiles(scan);
      await page.getByText(AWAY).waitFor();
      expect(puts).toEqual([1]);
      await page.context().setOffline(false);
      await page.getByText('ready', { exact: true }).waitFor();
      expect(puts).toEqual(PARTS);
      expect(Number(await ended)).toBe(SCAN.width);
    },
    SCAN_MS_MAX,
  );

  it('shows an editor the pictures until the session is revoked', async () => {
    expect(await typeNext()).toMatch(/^\[ 'scan' \]$/m);
    expect(await typeNext()).toMatch(/^session_revoked$/m);
  });

  it('mints one signed URL for a hundred viewers', async () => {
    await typeNext();
    const addresses = (await typeNext()).trim().split('\n');
    expect(addresses).toEqual([expect.stringMatching(/\/resize\/640x\/f\/scan\?.*sig=/)]);
  });

  it('mints once for viewers who come while it mints', async () => {
    await startShakySite();
    const view = () => fetch(`${shaky}/image`, { redirect: 'manual' });
    way.set({ kind: 'stall' });
    const viewers = Array.from({ length: 100 }, view);
    // Answered behind them: by then the site knows of all.
    await (await fetch(shaky)).text();
    way.set({ kind: 'none' });
    const answers = await Promise.all(viewers);
    const addresses = answers.map(({ status, headers }) => `${status} ${headers.get('location')}`);
    expect([...new Set(addresses)]).toEqual([expect.stringMatching(/^302 .*sig=/)]);
    expect(way.connections().total).toBe(1);
  });

  it('finds a refused webhook in the delivery log as documented, and sends it again', async () => {
    await typeNext();
    const log = await typeNext();
    const [shown] = readFences(DOCUMENT).filter(({ language }) => language === 'text');
    const lines = (shown?.text ?? '').trim().split('\n');
    for (const line of lines.filter((each) => each.trim() !== '...')) expect(log).toContain(line);
    expect(await typeNext()).toMatch(/^\[ 400, 204 \]$/m);
  });

  it('uploads a small picture from the same page', async () => {
    const page = await browser.newPage();
    await chooseSmall(page, `http://localhost:${port}`);
    await page.getByText(/^ready$|:/).waitFor();
    expect(await page.locator('#says').textContent()).toBe('ready');
  });

  it.each(['/uploads', '/complete'])('waits while Tintype is away at %s', async (asked) => {
    const page = await browser.newPage();
    await page.route(
      (url) => url.pathname.endsWith(asked),
      async (route) => {
        way.set({ kind: 'refuse' });
        way.cut();
        await route.continue();
      },
      { times: 1 },
    );
    await chooseSmall(page, shaky);
    await page.getByText(AWAY).waitFor();
    way.set({ kind: 'none' });
    await page.getByText(/^ready$|:/).waitFor();
    expect(await page.locator('#says').textContent()).toBe('ready');
  });

  it('begins one upload if the answer to its beginning is lost', async () => {
    const page = await browser.newPage();
    const begun: unknown[] = [];
    await page.route('**/uploads', async (route) => {
      const response = await route.fetch();
      begun.push((await response.json()).upload_id);
      await (begun.length === 1 ? route.abort() : route.fulfill({ response }));
    });
    await chooseSmall(page, `http://localhost:${port}`);
    await page.getByText(/^ready$|:/).waitFor();
    expect(begun).toEqual([expect.stringMatching(/^upl_/), begun[0]]);
  });

  it('lets a person choose the same file again after the storage refused it', async () => {
    const page = await browser.newPage();
    const refuse = (route: Route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 400 }) : route.fallback();
    await page.route('**', refuse);
    await chooseSmall(page, `http://localhost:${port}`);
    await page.getByText('choose the file again').waitFor();
    // A browser reports no change if the same file is chosen twice in a row.
    await expect.poll(() => page.locator('input').inputValue()).toBe('');
  });

  it('has typed every command of the document', () => expect(blocks).toEqual([]));
});

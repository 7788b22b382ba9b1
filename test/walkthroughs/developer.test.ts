// Runs docs/walkthroughs/developer.md as written, on a fresh Tintype, with Chromium for what a person does in a
// browser. A free port replaces port 3000.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fence, jsonIn, readFences, readShellBlocks } from '../contract/support/blocks.ts';
import { withKey } from '../contract/support/client.ts';
import { readStart } from '../contract/support/start-line.ts';
import {
  projectRoot,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { identify } from '../contract/support/tools.ts';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { realPhotographs } from '../support/photographs.ts';
import { animatedWebp, cameraJpeg, over, photograph } from '../support/pictures.ts';
import { makeClone, openShell, type Shell, typeBlock } from './support/shell.ts';

const DOCUMENT = 'docs/walkthroughs/developer.md';
const PICTURES = 50;
/** A HEIC file, an animation, and a photograph that is truncated. */
const REFUSED = 3;

let clone: string;
let port: number;
let tintype: Tintype;
let shell: Shell;
let browser: Browser;
let blocks: string[];

beforeAll(async () => {
  [clone, port, browser] = await Promise.all([makeClone(), freePort(), startBrowser()]);
  const fences = readFences(DOCUMENT);
  blocks = readShellBlocks(DOCUMENT).map(here);
  await mkdir(join(clone, 'shop'));
  await Promise.all(fences.filter(({ name }) => name !== '').map(writeNamed));
  await writePictures(join(clone, 'pictures'));
  const { env, args } = readStart(DOCUMENT);
  const [option, config = ''] = args;
  expect([option, args.length]).toEqual(['--config', 2]);
  tintype = await startTintype({ config: join(clone, config), env });
  shell = openShell({ folder: clone, tintype, env: { PORT: String(port) } });
}, 300_000);

afterAll(async () => {
  await Promise.all([shell?.close(), browser?.close(), tintype?.end('SIGTERM')]);
  await Promise.all([clone, tintype?.data].map(removeFolder));
});

/** Replaces the document's port by the free one. */
function here(text: string): string {
  return text.replaceAll('3000', String(port));
}

async function writeNamed({ name, text }: Fence): Promise<void> {
  await writeFile(join(clone, name), here(text));
}

/** Photographs of real cameras in five types, and other files that are common in such folders. */
async function writePictures(folder: string): Promise<void> {
  await mkdir(folder);
  const camera = await cameraJpeg(photograph(640, 480));
  const own: Record<string, Buffer | string> = {
    'harbour.jpg': await over(photograph(2400, 1600, 2))
      .jpeg()
      .toBuffer(),
    'Market Day (2).JPG': camera,
    'logo.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><circle r="40"/></svg>',
    'spinner.webp': await animatedWebp(64, 64),
  };
  const heic = 'phone.heic';
  await copyFile(join(projectRoot, '.tools/photographs/iphone.heic'), join(folder, heic));
  const real = realPhotographs(camera).slice(0, PICTURES - Object.keys(own).length - 1);
  const names = real.map(({ name, bytes }) => [name.replaceAll('/', '-'), bytes] as const);
  for (const [name, bytes] of [...names, ...Object.entries(own)]) {
    await writeFile(join(folder, name), bytes);
  }
}

const typeNext = () => typeBlock(shell, blocks);

const squeeze = (text: string) => text.replaceAll(/ +/g, ' ');
const bytesOf = (path: string) => readFile(join(clone, 'first-day', path));

function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
}

// Each test continues from the previous one, so a single one cannot be retried.
describe('a developer on a laptop', { retry: 0, shuffle: false, timeout: 120_000 }, () => {
  it('has the project of the document from the start', () => {
    expect(tintype.instance.project_slug).toBe('shop');
    expect(tintype.stderr).toEqual([]);
  });

  it('uploads fifty pictures and sees the outcome of each', async () => {
    const seen = squeeze(await typeNext()).split('\n');
    const [shown] = readFences(DOCUMENT).filter(({ language }) => language === 'text');
    for (const line of squeeze(shown?.text ?? '')
      .trim()
      .split('\n'))
      expect(seen).toContain(line);
    const addresses = (await bytesOf('urls.txt')).toString().trim().split('\n');
    expect(addresses.filter((each) => each.includes('/originals/f/'))).toHaveLength(
      PICTURES - REFUSED,
    );
  });

  it('gets the sizes that the URLs ask for', async () => {
    await typeNext();
    const found = await Promise.all(['card.webp', 'thumb.jpg', 'strip.avif'].map(bytesOf));
    expect(await Promise.all(found.map(identify))).toEqual([
      { format: 'WEBP', width: 480, height: 360 },
      { format: 'JPEG', width: 200, height: 200 },
      { format: 'AVIF', width: 1200, height: 300 },
    ]);
  });

  it('gets a new size as soon as the YAML declares it', async () => {
    await typeNext();
    const hero = { format: 'WEBP', width: 1600, height: 1067 };
    expect(await identify(await bytesOf('hero.webp'))).toEqual(hero);
  });

  it('protects the project in the YAML, and gets a picture at a signed URL', async () => {
    expect(await typeNext()).toContain('"code":"signature_required"');
    const [signed] = jsonIn(await typeNext());
    expect(await shell.type(`curl -sf -o first-day/signed.webp '${signed.url}'`)).toBe('');
    expect(await bytesOf('signed.webp')).toEqual(await bytesOf('hero.webp'));
  });

  it('reads the site’s webhook receiver in the document as it is in the file', async () => {
    const site = await readFile(join(projectRoot, 'docs/walkthroughs/developer/site.js'), 'utf8');
    const shown = readFences(DOCUMENT).filter(({ language }) => language === 'js');
    expect(shown.map(({ text }) => site.includes(text))).toEqual([true]);
  });

  it('receives a test webhook on the site', async () => {
    await typeNext();
    expect(await typeNext()).toMatch(/^webhook\.test /m);
  });

  it('shows a message in the picker, and its cause in the console, if the origin is not allowed', async () => {
    const origins = '/v1/projects/shop/libraries/default';
    const key = withKey(tintype, tintype.instance.api_key);
    const { body: before } = await key('GET', origins);
    await key('PATCH', origins, { allowed_origins: [`http://127.0.0.1:${port}`] });
    const page = await browser.newPage();
    const logged = page.waitForEvent('console', (line) => /session_failed/.test(line.text()));
    await page.goto(`http://localhost:${port}`);
    await page.getByRole('button').click();
    await page.getByText('The images could not be opened.').waitFor();
    expect((await logged).text()).toContain('allowed_origins');
    const { allowed_origins } = before;
    expect((await key('PATCH', origins, { allowed_origins })).status).toBe(200);
  });

  it('inserts a picture with the picker, and receives a webhook for one that is uploaded there', async () => {
    const page = await browser.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`http://localhost:${port}`);
    const picker = page.frameLocator('iframe');
    await page.getByRole('button').click();
    await picker.getByRole('searchbox').fill('harbour');
    await picker.getByRole('option', { name: 'harbour.jpg' }).click();
    await picker.getByRole('button', { name: 'Insert', exact: true }).click();
    const width = () => page.evaluate('document.querySelector("img").naturalWidth');
    await expect.poll(width, { timeout: 20_000 }).toBe(480);
    await page.getByRole('button').click();
    const buffer = await over(photograph(800, 600, 3))
      .jpeg()
      .toBuffer();
    const gate = { name: 'gate.jpg', mimeType: 'image/jpeg', buffer };
    await picker.locator('input[type=file]').setInputFiles(gate);
    expect(await typeNext()).toMatch(/^upload\.ready \{/m);
    await picker.getByRole('option', { name: 'gate.jpg' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('sees the files and deliveries in the usage', async () => {
    const [usage] = jsonIn(await typeNext());
    expect(usage.storage.file_count).toBe(PICTURES - REFUSED + 1);
    // There are two hours if a new one began during the test.
    const hours: { requests: number; credits: number }[] = usage.hourly;
    const sum = (of: 'requests' | 'credits') => hours.reduce((all, hour) => all + hour[of], 0);
    expect(sum('requests')).toBeGreaterThanOrEqual(6);
    expect(sum('credits')).toBeGreaterThanOrEqual(sum('requests'));
  });

  it('has typed every command of the document', () => expect(blocks).toEqual([]));

  it('has changed the YAML without a complaint about a declaration', () => {
    expect(tintype.stderr.filter((line) => line.includes('declaration'))).toEqual([]);
  });
});

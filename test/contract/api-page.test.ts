/** The API page in a real browser: it shows everything, loads nothing from other hosts, and its forms work. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { runTintype } from './support/tintype.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAPER = { dark: 'rgb(28, 32, 34)', light: 'rgb(255, 255, 255)' };
let tintype: UsedTintype;
let browser: Browser;
let page: Page;
/** Requests to other hosts, and errors that the browser reported. */
const strangers: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  [tintype, browser] = await Promise.all([takeTintype(), startBrowser()]);
  page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  // The page contains all operations and renders all of them again after each click.
  page.setDefaultTimeout(120_000);
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(api()) && !url.startsWith('data:')) strangers.push(url);
  });
  // The root of the host redirects to the page.
  await page.goto(api());
  expect(page.url()).toBe(`${api()}/docs`);
  await page.getByText('A first hour').waitFor({ timeout: 120_000 });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await tintype?.stop();
});

/** Uses the IP address, so that the browser needs no name resolution. */
const api = () => tintype.instance.api_url.replace('localhost', '127.0.0.1');

/** Opens an operation, sends the body, and returns the response that the page shows. */
async function tryOut(operationId: string, options: { slug?: string; body?: unknown } = {}) {
  const operation = page.locator(`.opblock[id$="-${operationId}"]`);
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  if (options.slug !== undefined) await operation.getByPlaceholder('slug').fill(options.slug);
  if (options.body !== undefined)
    await operation.locator('textarea.body-param__text').fill(JSON.stringify(options.body));
  await operation.getByRole('button', { name: 'Execute' }).click();
  const live = operation.locator('.live-responses-table .response');
  await live.waitFor();
  const status = Number.parseInt(await textOf(live.locator('.response-col_status')), 10);
  const text = await textOf(live.locator('.response-col_description .highlight-code').first());
  await operation.locator('.opblock-summary-control').click();
  return { status, body: JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) };
}

const textOf = async (found: Locator) => (await found.textContent()) ?? '';

/** Fills in the form behind Authorize. The page sends the values only with later requests. */
async function authorize(values: Readonly<Record<string, string>>) {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const form = page.locator('.auth-container');
  for (const [scheme, value] of Object.entries(values)) {
    const one = form.filter({ has: page.locator('h4', { hasText: scheme }) });
    await one.locator('input').fill(value);
    await one.getByRole('button', { name: 'Apply credentials' }).click();
  }
  await page.getByRole('button', { name: 'Close' }).first().click();
}

describe('the page at /docs', { shuffle: false, timeout: 300_000 }, () => {
  it('shows every operation of the OpenAPI document', async () => {
    const answer = await fetch(`${tintype.instance.api_url}/openapi.json`);
    const document = (await answer.json()) as { paths: Record<string, object> };
    const count = Object.values(document.paths).flatMap((path) => Object.keys(path)).length;
    expect(await page.locator('.opblock').count()).toBe(count);
  });

  it.each([
    ['multipart', 'createUpload', 'createProject'],
    ['  POST  Signed ', 'signUrl', 'listSigningKeys'],
    ['webhooks test', 'sendTestWebhook', 'listWebhookDeliveries'],
    ['/recipes/{id}', 'deleteRecipe', 'listRecipes'],
  ])('filters operations by words: %s', async (phrase, found, passed) => {
    const filter = page.getByRole('textbox', { name: 'Filter operations' });
    const shown = page.locator('.opblock');
    const all = await shown.count();
    await filter.fill(phrase);
    await expect.poll(() => shown.count()).toBeLessThan(all / 4);
    expect(await page.locator(`.opblock[id$="-${found}"]`).count()).toBe(1);
    expect(await page.locator(`.opblock[id$="-${passed}"]`).count()).toBe(0);
    await filter.fill(`${phrase} elsewhere`);
    await page.getByText('No operation has all of these words.').waitFor();
    await filter.fill('');
    await expect.poll(() => shown.count()).toBe(all);
  });

  it.each(['dark', 'light'] as const)(
    'has sufficient color contrast in the %s color scheme',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      const background = 'getComputedStyle(document.body).backgroundColor';
      await expect.poll(() => page.evaluate(background)).toBe(PAPER[colorScheme]);
      const operation = page.locator('.opblock[id$="-createUpload"]');
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.responses-table .header-col').first().waitFor();
      // Waits for color transitions to end, because axe would measure intermediate colors.
      await page.evaluate(
        'Promise.allSettled(document.getAnimations().map(({ finished }) => finished))',
      );
      const found = await page.evaluate(`${AXE}; axe.run({ runOnly: ['color-contrast'] })`);
      expect(found).toMatchObject({ violations: [] });
      await operation.locator('.opblock-summary-control').click();
    },
  );

  it('fits a screen 320 px wide, even with an operation open', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const operation = page.locator('.opblock[id$="-createUpload"]');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.responses-table .response').nth(10).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await operation.locator('.opblock-summary-control').click();
    await page.setViewportSize({ width: 1280, height: 1000 });
  });

  it('labels the server selector, and makes code blocks scrollable by keyboard', async () => {
    await page.getByRole('combobox', { name: 'Server' }).waitFor();
    const reached = await page
      .locator('.info pre')
      .evaluateAll((blocks) =>
        blocks.every((block) => (block as unknown as { tabIndex: number }).tabIndex === 0),
      );
    expect(reached).toBe(true);
  });

  it('resolves the schemas and error responses that an operation references', async () => {
    const operation = page.locator('.opblock[id$="-createProject"]');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.responses-table .response').nth(10).waitFor();
    const text = await textOf(operation);
    // A field of a record, a code that many operations share, and one that is specific to this
    // operation.
    for (const word of ['"organization_id"', '"rate_limited"', '"project_exists"'])
      expect(text).toContain(word);
    expect(text).not.toContain('$ref');
    await operation.locator('.opblock-summary-control').click();
  });

  it('lets a user create a project and an API key, and list files with that key', async () => {
    const { stdout } = await runTintype([
      'token',
      '--json',
      '--data',
      tintype.data,
      '--sub',
      'ada',
    ]);
    const { token } = JSON.parse(stdout);
    const secret = tintype.instance.request_signing_secret;
    await authorize({ BrowserSession: token, RequestSignature: secret });
    const project = { project_slug: 'from-the-page', name: 'From the page' };
    const made = await tryOut('createProject', { body: project });
    expect(made).toMatchObject({ status: 201, body: { project_slug: 'from-the-page' } });
    const key = await tryOut('createApiKey', { slug: 'from-the-page', body: { name: 'mine' } });
    expect(key.status).toBe(201);
    await authorize({ ApiKeyHeader: key.body.plaintext_secret });
    const files = await tryOut('listFiles', { slug: 'from-the-page' });
    expect(files).toEqual({ status: 200, body: { items: [], next_cursor: null } });
  });

  it.each([360, 1280])(
    'has a page for the error code that a response links to, %i px wide',
    async (width) => {
      const refused = await fetch(`${api()}/v1/projects`);
      const { error } = (await refused.json()) as { error: { code: string; message: string } };
      const [, address = ''] =
        /^<([^>]+)>; rel="help"$/.exec(refused.headers.get('link') ?? '') ?? [];
      await page.setViewportSize({ width, height: 900 });
      await page.goto(address.replace('localhost', '127.0.0.1'));
      expect(await textOf(page.locator('h1'))).toBe(error.code);
      expect(await textOf(page.locator('.message').first())).toBe(error.message);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await page.getByRole('link', { name: 'Error codes' }).click();
      await page.getByRole('link', { name: error.code }).click();
      expect(await textOf(page.locator('h1'))).toBe(error.code);
    },
  );

  it('loads nothing from other origins and logs no console errors', () => {
    expect(strangers).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('returns 404 not_found for an unknown asset below /docs', async () => {
    const answer = await fetch(`${tintype.instance.api_url}/docs/assets/absolute-path.js`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
  });
});

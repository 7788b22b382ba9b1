// Drawings of editors and chart programs look the same before and after sanitizing, in the service's renderer and in a
// browser. Spec: What the service does (SVG).

import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';
import { startBrowser } from '../../../../support/browser.ts';
import { type Samples, ssim } from '../../../../support/ssim.ts';
import { drawings } from '../../../../support/svg-drawings.ts';

const ALIKE = 0.99;

async function samplesOf(picture: Buffer): Promise<Samples> {
  const { data, info } = await sharp(picture)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

const clean = (document: string) => sanitizeSvg(Buffer.from(document)).vector;

describe.each(drawings)('a drawing by $name', ({ document }) => {
  it('looks the same to the renderer after it is sanitized', async () => {
    const before = await samplesOf(Buffer.from(document));
    expect(new Set(before.data).size, 'it shows something').toBeGreaterThan(1);
    expect(ssim(await samplesOf(Buffer.from(clean(document))), before)).toBeGreaterThanOrEqual(
      ALIKE,
    );
  });
});

describe('a browser', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await startBrowser();
    page = await browser.newPage({ viewport: { width: 400, height: 300 } });
  });

  afterAll(() => browser?.close());

  const shown = drawings.filter(({ only }) => only === undefined);

  it.each(shown)('shows a sanitized drawing as before: $name', async ({ document }) => {
    const show = async (svg: string) => {
      await page.goto(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
      return samplesOf(await page.screenshot());
    };
    const before = await show(document);
    expect(new Set(before.data).size, 'it shows something').toBeGreaterThan(1);
    expect(ssim(await show(clean(document)), before)).toBeGreaterThanOrEqual(ALIKE);
  });
});

// Renders look like direct renderings of the upload, no matter what a render reads: similar structure before encoding,
// equally close to the direct pixels after encoding, and no visible shift of color or position. Samples images and
// modes, a third of the modes per image; `make bench ARGS=quality` covers all. Spec: Transform operations; Output rules.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import { compareRenders, type Subject } from '../../../support/quality/compare.ts';
import { listGraphics } from '../../../support/quality/graphics.ts';
import { modes } from '../../../support/quality/modes.ts';
import { columnsOf, sampleOf } from '../../../support/sample.ts';

const SSIM_MIN = 0.98;
/**
 * How much less similar to the direct pixels an encoded render may be than an encoded direct
 * rendering.
 */
const BEHIND_MAX = 0.01;
/**
 * A color difference of about 2 is just visible over whole areas. Edges of text exceed it in 1 % of
 * the blocks.
 */
const COLOR_SHIFT_MAX = 3;
const POSITION_SHIFT_MAX = 0.15;

/** From Debian's mate-backgrounds package. */
const FOLDER = '/usr/share/backgrounds/mate/nature';
const photographs = ['Storm', 'Wood', 'RainDrops', 'FreshFlower', 'Blinds'];
const graphics = [
  'a page of text',
  'colored text, JPEG',
  'a screenshot, palette',
  'a screenshot, WebP',
  'line art, seen through',
  'a cut-out, WebP',
  'ramps of 16 bits',
  'blocks, JPEG',
  'lines, SVG',
];
const chosen = [
  'height only',
  'fit, the most of the smallest half-way image',
  'fill, a thumbnail',
  'smart',
  'crop and resize',
  'crop, small and at an odd place',
  'to WebP',
  'to AVIF',
];

const decoder = useDecoder();
/** For up to eight renders of one image, on a busy machine. */
const TIMEOUT_MS = 300_000;

async function expectAlike(subject: Subject): Promise<void> {
  const names = columnsOf(chosen, [...photographs, ...graphics].indexOf(subject.name));
  const compared = await compareRenders(
    decoder,
    subject,
    modes.filter(({ name }) => names.includes(name)),
  );
  expect(compared.length).toBe(names.length);
  for (const { mode, format, ssim, ours, straight, ...shifts } of compared) {
    const { color_shift, position_shift } = shifts;
    expect.soft(ssim, mode).toBeGreaterThanOrEqual(SSIM_MIN);
    // Lossless encoders add no difference.
    const behind = format === 'png' ? 0 : straight - ours;
    expect.soft(behind, `${mode}, encoded`).toBeLessThanOrEqual(BEHIND_MAX);
    expect.soft(color_shift, mode).toBeLessThanOrEqual(COLOR_SHIFT_MAX);
    expect.soft(position_shift, mode).toBeLessThanOrEqual(POSITION_SHIFT_MAX);
  }
}

describe('renders compared with renders directly from the upload', { timeout: TIMEOUT_MS }, () => {
  it.each(sampleOf(photographs, 2))('look the same for the photograph %s', async (name) => {
    const bytes = await readFile(`${FOLDER}/${name}.jpg`);
    await expectAlike({ name, family: 'photograph', content_type: 'image/jpeg', bytes });
  });

  it.each(graphics)('look the same for %s', async (name) => {
    const graphic = listGraphics(decoder).find((one) => one.name === name);
    if (graphic === undefined) throw new Error(`no graphic ${name}`);
    await expectAlike(await graphic.read());
  });
});

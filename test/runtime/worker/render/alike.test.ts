// Renders look as ones straight from the upload do, whatever a render reads: the same structure before the encoder, no
// further from the straight pixels after it, and no visible shift of colour or position. A sample of pictures and
// modes, each picture in half of them; `make bench ARGS=quality` measures all. Spec: Transform operations; Output rules.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import { compareRenders, type Subject } from '../../../support/quality/compare.ts';
import { listGraphics } from '../../../support/quality/graphics.ts';
import { modes } from '../../../support/quality/modes.ts';
import { columnsOf } from '../../../support/sample.ts';

const SSIM_MIN = 0.98;
/** Of the structural similarity that a straight render has to its own pixels. */
const BEHIND_MAX = 0.01;
/** What eyes can tell is about 2 between whole areas; at the edges of text a hundredth of the blocks is more. */
const COLOUR_SHIFT_MAX = 3;
const POSITION_SHIFT_MAX = 0.15;

/** Debian's mate-backgrounds. */
const FOLDER = '/usr/share/backgrounds/mate/nature';
const photographs = ['Storm', 'Wood', 'RainDrops', 'FreshFlower', 'Blinds'];
const graphics = [
  'a page of text',
  'coloured text, JPEG',
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
/** Of one picture in eight ways, beside whatever else runs. */
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
    const { colour_shift, position_shift } = shifts;
    expect.soft(ssim, mode).toBeGreaterThanOrEqual(SSIM_MIN);
    // An encoder that loses nothing adds nothing to that.
    const behind = format === 'png' ? 0 : straight - ours;
    expect.soft(behind, `${mode}, encoded`).toBeLessThanOrEqual(BEHIND_MAX);
    expect.soft(colour_shift, mode).toBeLessThanOrEqual(COLOUR_SHIFT_MAX);
    expect.soft(position_shift, mode).toBeLessThanOrEqual(POSITION_SHIFT_MAX);
  }
}

describe('renders beside ones straight from the upload', { timeout: TIMEOUT_MS }, () => {
  it.each(photographs)('of the photograph %s', async (name) => {
    const bytes = await readFile(`${FOLDER}/${name}.jpg`);
    await expectAlike({ name, family: 'photograph', content_type: 'image/jpeg', bytes });
  });

  it.each(graphics)('of %s', async (name) => {
    const graphic = listGraphics(decoder).find((one) => one.name === name);
    if (graphic === undefined) throw new Error(`no graphic ${name}`);
    await expectAlike(await graphic.read());
  });
});

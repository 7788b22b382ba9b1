/**
 * Compares renders with direct renders from the upload, for photographs, artwork and graphics in every mode, and writes
 * `.bench/quality.json`. `ssim` is the similarity before encoding, `enc` after it. `behind` is how much less similar
 * our encoded render is to the direct pixels than the direct render with the same encoder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../contract/support/tintype.ts';
import { createDecoder, type Decoder } from '../support/decoder.ts';
import { type Compared, compareRenders, type Subject } from '../support/quality/compare.ts';
import { listGraphics } from '../support/quality/graphics.ts';
import { modes } from '../support/quality/modes.ts';
import { type Figure, figure } from './figure.ts';
import { listPhotographs, readSubject } from './quality/photographs.ts';
import { printReport } from './quality/report.ts';

const AT_ONCE = 2;
/** Long enough that no image times out on a busy machine. */
const WALL_CLOCK_MS = 600_000;

export async function measureQuality(): Promise<Figure[]> {
  const decoder = createDecoder({ slots: AT_ONCE, wall_clock_ms: WALL_CLOCK_MS });
  try {
    const subjects = [
      ...listGraphics(decoder).map(({ read }) => read),
      ...listPhotographs().map((place) => () => readSubject(place)),
    ];
    const compared = await compareAll(decoder, subjects);
    process.stdout.write(`${printReport(compared)}\n`);
    return ['ssim', 'encoded'].map((key) =>
      figure(
        `${key === 'ssim' ? 'renders before the encoder' : 'encoded renders'} beside straight ones`,
        'SSIM',
        compared.map((each) => each[key as 'ssim' | 'encoded']),
      ),
    );
  } finally {
    await decoder.close();
  }
}

/** Reads each file only when it is compared, because together they take hundreds of megabytes. */
async function compareAll(
  decoder: Decoder,
  subjects: readonly (() => Promise<Subject>)[],
): Promise<Compared[]> {
  const compared: Compared[] = [];
  const queue = [...subjects];
  const work = async () => {
    for (let read = queue.shift(); read !== undefined; read = queue.shift()) {
      const subject = await read();
      compared.push(...(await compareRenders(decoder, subject, modes)));
      // Saves after each file, so that a later failure does not lose results.
      save(compared);
      process.stderr.write(`  ${subject.name}\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return compared;
}

function save(compared: readonly Compared[]): void {
  const folder = join(projectRoot, '.bench');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'quality.json'), `${JSON.stringify(compared, null, 1)}\n`);
}

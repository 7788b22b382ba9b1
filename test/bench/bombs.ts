/**
 * The time to refuse each bomb whose header, or text, shows what it is: through a decoder child, as an upload is,
 * several times, the fastest of each; and the slowest of them by name.
 */
import { bombs, type HostileFile } from '../support/hostile-corpus.ts';
import { ingest, type Outcome, startDecoders } from '../support/hostile-run.ts';
import { type Figure, figure } from './figure.ts';

const RUNS = 5;
const NAME_CHARACTERS = 57;

export async function measureBombs(): Promise<Figure[]> {
  const sandbox = startDecoders();
  try {
    const all: Outcome[] = [];
    for await (const file of shown()) all.push(await fastest(() => ingest(sandbox, file)));
    const [drawings, rasters] = [all.filter(isDrawing), all.filter((one) => !isDrawing(one))];
    const slowest = all.toSorted((a, b) => b.ms - a.ms).slice(0, 3);
    return [
      figure('time to refuse a bomb that a header shows', 'ms', timesOf(rasters)),
      figure('time to refuse a drawing that is a bomb', 'ms', timesOf(drawings)),
      ...slowest.map((one) =>
        figure(`  ${one.file.name}`.slice(0, NAME_CHARACTERS), 'ms', [one.ms]),
      ),
    ];
  } finally {
    await sandbox.close();
  }
}

async function* shown(): AsyncGenerator<HostileFile> {
  for await (const file of bombs()) if (file.header_code !== undefined) yield file;
}

function isDrawing({ file }: Outcome): boolean {
  return file.content_type === 'image/svg+xml';
}

function timesOf(all: readonly Outcome[]): number[] {
  return all.map(({ ms }) => ms);
}

async function fastest(run: () => Promise<Outcome>): Promise<Outcome> {
  let best = await run();
  for (let more = 1; more < RUNS; more += 1) {
    const next = await run();
    if (next.ms < best.ms) best = next;
  }
  return best;
}

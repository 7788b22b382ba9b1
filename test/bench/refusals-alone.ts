/**
 * A warm decoder process that processes one bomb after the other, and reports the time of each verdict after the bytes
 * are loaded: CPU time, which other load does not affect, and wall time.
 */
import sharp from 'sharp';
import { IngestRefusal } from '../../runtime/worker/ingest/ingest-refusal.ts';
import { sanitize } from '../../runtime/worker/ingest/sanitize.ts';
import { bombs, type HostileFile } from '../support/hostile-corpus.ts';

export type Refusal = {
  name: string;
  content_type: string;
  /** Whether the header, or the text of a drawing, reveals the bomb. */
  is_shown: boolean;
  code: string;
  cpu_ms: number;
  wall_ms: number;
};

const WARMING_RUNS = 3;
const RUNS = 5;
/** Files that take longer are measured only once. */
const ONCE_MS = 300;

// The settings of a decoder.
sharp.cache(false);
sharp.concurrency(1);
for (let run = 0; run < WARMING_RUNS; run += 1) {
  for await (const file of bombs()) if (file.header_code !== undefined) await verdict(file);
}
const refusals: Refusal[] = [];
for await (const file of bombs()) refusals.push(await measure(file));
process.stdout.write(JSON.stringify(refusals));

async function measure(file: HostileFile): Promise<Refusal> {
  const { name, content_type } = file;
  const runs = [await verdict(file)];
  while (runs.length < RUNS && (runs[0]?.wall_ms ?? 0) < ONCE_MS) runs.push(await verdict(file));
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  return {
    name,
    content_type,
    is_shown: file.header_code !== undefined,
    code: runs[0]?.code ?? '',
    cpu_ms: median(runs.map(({ cpu_ms }) => cpu_ms)),
    wall_ms: median(runs.map(({ wall_ms }) => wall_ms)),
  };
}

async function verdict({ bytes, content_type }: HostileFile) {
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  const code = await sanitize(bytes, content_type).then(
    () => 'ready',
    (error: unknown) => (error instanceof IngestRefusal ? error.code : String(error)),
  );
  const { user, system } = process.cpuUsage(cpu);
  return { code, cpu_ms: (user + system) / 1000, wall_ms: performance.now() - wall };
}

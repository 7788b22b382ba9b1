/**
 * `node test/bench/render-soak.ts 10000`: that many renders, each of another URL, two at a time, of photographs and
 * graphics of up to 24 megapixels, in every format, one in twenty from the original. Prints the memory during each tenth
 * of them, and fails if the processes other than PostgreSQL still grow after seven tenths, when their caches are full.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure } from './figure.ts';
import { describeMachine, printMachine } from './machine.ts';
import { load } from './peers/load.ts';
import { type Peer, peers, type Work } from './peers/peers.ts';
import { makeSources, type Source } from './peers/sources.ts';
import { GROUPS, type Group, type Groups, measureGroups } from './rest.ts';

const TENTHS = 10;
const AT_ONCE = 2;
/** Of one request: a busy machine may take longer than a render may. */
const TRIES = 20;
const LOOK_MS = 200;
/** From 1.6 times less than the largest half-way image on, a render reads the original. */
const [SMALL, LARGE] = [200, 1300];
const LARGE_EVERY = 20;
const GROWTH_MAX = 0.05;
/** The tenth from which on the caches of images and of buffers are full, of 10,000 renders. */
const FULL = 6;
const COLUMNS = [...GROUPS, 'together', 'most', 'cpu_ms'] as const;

type Tenth = Record<Group | 'together', number> & { most: number; cpu_ms: number };

const renders = Number(process.argv[2] ?? 10_000);
process.stdout.write(`${printMachine(describeMachine())}\n`);
const folder = mkdtempSync(join(tmpdir(), 'tintype-render-soak-'));
try {
  const sources = await makeSources(folder, ['formats', 'photographs', 'graphics']);
  const peer = await peers['tintype']?.({
    folder,
    sources,
    installed: { thumbor: null, ipx: null },
  });
  if (peer == null) throw new Error('Tintype did not start');
  try {
    process.exitCode = judge(await renderAll(peer, worksOf(sources)));
  } finally {
    await peer.stop();
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Takes turns between sources and formats. */
function worksOf(sources: readonly Source[]): Work[] {
  const kinds = sources.flatMap(({ file, formats }) => formats.map((format) => ({ file, format })));
  return Array.from({ length: renders }, (_, at) => {
    const [turn, kind] = [Math.floor(at / kinds.length), kinds[at % kinds.length]];
    if (kind === undefined) throw new Error('nothing to render');
    return { ...kind, width: ((at + turn) % LARGE_EVERY === 0 ? LARGE : SMALL) + turn };
  });
}

async function renderAll(peer: Peer, works: readonly Work[]): Promise<Tenth[]> {
  const tenths: Tenth[] = [];
  printLine(['renders', ...COLUMNS]);
  const size = works.length / TENTHS;
  for (let tenth = 0; tenth < TENTHS; tenth += 1) {
    const own = works.slice(Math.round(tenth * size), Math.round((tenth + 1) * size));
    const memory = watchMemory(peer.pid);
    const addresses = own.map((work) => peer.address(work));
    const all = { addresses, at_once: AT_ONCE, is_watched: false, tries: TRIES };
    const { cpu_ms } = await load(peer.pid, all);
    const measured = { ...memory.stop(), cpu_ms: cpu_ms / own.length };
    const count = Math.round((tenth + 1) * size);
    printLine([String(count), ...COLUMNS.map((column) => measured[column])]);
    tenths.push(measured);
  }
  return tenths;
}

/** Medians in MB, and the most; `together` is all but PostgreSQL, whose cache fills with the rows of the renders. */
function watchMemory(pid: number): { stop(): Omit<Tenth, 'cpu_ms'> } {
  const looks: Groups[] = [];
  const look = () => looks.push(measureGroups(pid));
  const timer = setInterval(look, LOOK_MS);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      const mb = (read: (groups: Groups) => number) =>
        figure(
          '',
          'MB',
          looks.map((groups) => read(groups) / 1e6),
        );
      const own = (group: Group) => mb((groups) => groups[group].bytes).median;
      const together = mb((groups) => groups['the server'].bytes + groups.decoders.bytes);
      return {
        'the server': own('the server'),
        decoders: own('decoders'),
        PostgreSQL: own('PostgreSQL'),
        together: together.median,
        most: together.max,
      };
    },
  };
}

function printLine(cells: readonly (number | string)[]): void {
  const texts = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell));
  process.stdout.write(`${texts.map((text) => text.padStart(12)).join('')}\n`);
}

/** Returns the exit code. */
function judge(tenths: readonly Tenth[]): number {
  const last = tenths.at(-1)?.together ?? Number.NaN;
  const growth = (since: number) => last / (tenths[since]?.together ?? Number.NaN) - 1;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  process.stdout.write(
    `grown by ${percent(growth(1))} since the second tenth, by ${percent(growth(FULL))} since the seventh\n`,
  );
  return growth(FULL) <= GROWTH_MAX ? 0 : 1;
}

/** Generates all hostile files: valid files with every kind of damage, and fabricated files. */
import {
  bitFlips,
  deletions,
  headerExtremes,
  insertions,
  shuffles,
  truncations,
} from './hostile.ts';
import { rasterBombs } from './hostile-bombs.ts';
import { containerBombs } from './hostile-containers.ts';
import { metadataBombs } from './hostile-metadata.ts';
import { polyglots } from './hostile-polyglots.ts';
import { type Source, soundSources } from './hostile-sources.ts';
import { svgBombs } from './svg-bombs.ts';

export type HostileFile = Source & {
  family: string;
  /** The error code that the header alone determines, before anything is decoded. */
  header_code?: string;
};

export type CorpusSize = {
  /**
   * Scales the number of seeds: a tenth in tests, ten in benchmarks. Below 1, families without
   * seeds are sampled, too, and the slowest bombs are left out.
   */
  seeds: number;
};

export async function* hostileCorpus({ seeds }: CorpusSize): AsyncGenerator<HostileFile> {
  const sources = await soundSources();
  const seenTypes = new Set<string>();
  for (const source of sources) {
    const isFirst = !seenTypes.has(source.content_type);
    seenTypes.add(source.content_type);
    yield* damaged(source, seeds);
    const extremes = () => thinned(headerExtremes(source.bytes, 48), seeds);
    if (isFirst) yield* labelled(source, 'header extremes', extremes());
  }
  yield* polyglots(sources);
  yield* thinnedBombs(seeds);
}

/** Files whose processing costs far more than their size suggests. */
export async function* bombs(): AsyncGenerator<HostileFile> {
  yield* rasterBombs();
  yield* containerBombs();
  yield* metadataBombs();
  yield* svgBombs();
}

function* damaged(source: Source, seeds: number): Generator<HostileFile> {
  const { bytes, name, content_type } = source;
  const damage = (count: number) => ({ count: count * seeds, seed: seedOf(name), content_type });
  yield* labelled(source, 'cut short', thinned(truncations(bytes), seeds));
  yield* labelled(source, 'bits turned', bitFlips(bytes, { ...damage(20), header: 400 }));
  yield* labelled(source, 'bytes put in', insertions(bytes, damage(6)));
  yield* labelled(source, 'bytes taken out', deletions(bytes, damage(6)));
  yield* labelled(source, 'parts exchanged', shuffles(bytes, damage(12)));
}

function* labelled(
  { name, content_type }: Source,
  family: string,
  files: Iterable<Buffer>,
): Generator<HostileFile> {
  let index = 0;
  for (const bytes of files) {
    yield { family, name: `${name}, ${family} ${index}`, content_type, bytes };
    index += 1;
  }
}

function* thinned(files: Iterable<Buffer>, share: number): Generator<Buffer> {
  const one_in = oneIn(share);
  let index = 0;
  for (const bytes of files) {
    if (index % one_in === 0) yield bytes;
    index += 1;
  }
}

/** Ready after seconds of CPU time; cheaper bombs are of the same kinds. */
const SLOW: readonly string[] = [
  'SVG of siblings of siblings',
  'GIF with a frame beyond its canvas',
  'GIF that clears its table for ever',
  'BMP of 6000x6000 in four bytes of runs',
];

/** Thins those that are rejected by their header alone, and so never reach a decoder. */
async function* thinnedBombs(share: number): AsyncGenerator<HostileFile> {
  const one_in = oneIn(share);
  let rejected = 0;
  for await (const bomb of bombs()) {
    if (share < 1 && SLOW.includes(bomb.name)) continue;
    const isRejected = bomb.header_code !== undefined;
    if (!isRejected || rejected % one_in === 0) yield bomb;
    if (isRejected) rejected += 1;
  }
}

const oneIn = (share: number) => Math.max(1, Math.round(1 / share));

function seedOf(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
}

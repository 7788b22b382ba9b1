/**
 * Samples rows that differ only in where they strike, such as the writes at which a process may crash: the suites take
 * every `every`-th and the last one, `make soak` takes all.
 */
export function sampleOf<Row>(rows: readonly Row[], every: number): Row[] {
  return rows.filter((_, at) => TAKES_ALL || at % every === 0 || at === rows.length - 1);
}

/** Samples the columns for a row: every other column, alternating between rows. */
export function columnsOf<Column>(columns: readonly Column[], row: number): Column[] {
  return columns.filter((_, at) => TAKES_ALL || (at + row) % 2 === 0);
}

const TAKES_ALL = process.env['TINTYPE_SOAK_SAMPLES'] === 'all';

/** The time limit of one test that goes through a whole sample. */
export const SAMPLE_MS_MAX = TAKES_ALL ? 1_800_000 : 300_000;

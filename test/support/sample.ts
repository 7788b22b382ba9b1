/**
 * Takes samples of similar cases, such as the writes at which a process may crash. Test suites take every `every`-th
 * case and the last one; `make soak` takes all.
 */
export function sampleOf<Row>(rows: readonly Row[], every: number): Row[] {
  return rows.filter((_, at) => TAKES_ALL || at % every === 0 || at === rows.length - 1);
}

/** Takes every third column, beginning one further in each row. */
export function columnsOf<Column>(columns: readonly Column[], row: number): Column[] {
  return columns.filter((_, at) => TAKES_ALL || (at + row) % 3 === 0);
}

export const TAKES_ALL = process.env['TINTYPE_SOAK_SAMPLES'] === 'all';

/** The time limit of a test that goes through a whole sample. */
export const SAMPLE_MS_MAX = TAKES_ALL ? 1_800_000 : 300_000;

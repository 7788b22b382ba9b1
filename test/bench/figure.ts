/** Statistics of a quantity that was measured in several runs. */
export type Figure = {
  name: string;
  unit: string;
  median: number;
  p95: number;
  min: number;
  max: number;
  runs: number;
};

export function figure(name: string, unit: string, values: readonly number[]): Figure {
  return {
    name,
    unit,
    median: percentile(values, 0.5),
    p95: percentile(values, 0.95),
    min: percentile(values, 0),
    max: percentile(values, 1),
    runs: values.length,
  };
}

/** The value that this share of the values is below, from 0 to 1; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

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
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return {
    name,
    unit,
    median: at(0.5),
    p95: at(0.95),
    min: at(0),
    max: at(1),
    runs: sorted.length,
  };
}

/** One panel of the Grafana dashboard, and the queries that many panels share. */

type Unit = 's' | 'reqps' | 'ops' | 'Bps' | 'short' | 'percentunit' | 'bytes';
export type Panel = {
  title: string;
  /** What the panel shows, and what is normal: Grafana displays it beside the title. */
  description: string;
  unit: Unit;
  /** Where the axis begins: at 0, unless values may be negative. */
  min?: 'what is drawn';
  targets: readonly (readonly [expr: string, legend: string])[];
};

export const inNamespace = 'namespace=~"$namespace"';
export const rate = (metric: string, filter = '') =>
  `rate(${metric}{${[inNamespace, filter].filter((each) => each !== '').join(', ')}}[$__rate_interval])`;
const quantile = (q: number, { metric, filter }: Measured) =>
  `histogram_quantile(${q}, sum by (le) (${rate(`${metric}_bucket`, filter)}))`;
type Measured = { metric: string; description: string; filter?: string };
export const latency = (title: string, measured: Measured): Panel => ({
  title,
  description: measured.description,
  unit: 's',
  targets: [
    [quantile(0.5, measured), 'p50'],
    [quantile(0.95, measured), 'p95'],
    [quantile(0.99, measured), 'p99'],
  ],
});
export const gauge = (metric: string, by: string) => `max by (${by}) (${metric}{${inNamespace}})`;

export type PanelRow = { title: string; panels: readonly Panel[] };

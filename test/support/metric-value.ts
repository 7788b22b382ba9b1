/** What a process that prints its metrics says of one series, labels and all; undefined where it has no such series. */
export function metricValue(printed: string, series: string): string | undefined {
  const of = `${series} `;
  const line = printed.split('\n').find((each) => each.startsWith(of));
  return line?.slice(of.length);
}

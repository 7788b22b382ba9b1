/** The value of one series, labels included, in printed metrics; undefined if there is no such series. */
export function metricValue(printed: string, series: string): string | undefined {
  const of = `${series} `;
  const line = printed.split('\n').find((each) => each.startsWith(of));
  return line?.slice(of.length);
}

/** Returns the value of a series, which includes its labels, in printed metrics, or undefined if there is none. */
export function metricValue(printed: string, series: string): string | undefined {
  const of = `${series} `;
  const line = printed.split('\n').find((each) => each.startsWith(of));
  return line?.slice(of.length);
}

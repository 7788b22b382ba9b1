/**
 * Whether an object of the cluster is as it was rendered. What the API server added by itself does not count; a list
 * has to be the same, so that what somebody added to one is seen.
 */
export function holds(rendered: unknown, live: unknown): boolean {
  if (Array.isArray(rendered)) return holdsList(rendered, live);
  if (!isRecord(rendered)) return rendered === undefined || rendered === live;
  const fields = Object.entries(rendered).filter(([, value]) => value !== undefined);
  // The API server leaves out what is empty.
  if (live === undefined) return fields.length === 0;
  return isRecord(live) && fields.every(([name, value]) => holds(value, live[name]));
}

function holdsList(rendered: readonly unknown[], live: unknown): boolean {
  if (live === undefined) return rendered.length === 0;
  if (!Array.isArray(live) || live.length !== rendered.length) return false;
  return rendered.every((item, index) => holds(item, live[index]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

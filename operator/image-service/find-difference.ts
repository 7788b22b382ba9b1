/**
 * Where an object of the cluster is not as it was rendered: the path of the first field, or nothing. What the API server
 * added by itself does not count; a list and a selector have to be the same, so that what somebody added to one is seen:
 * one label more and it selects no pod. What is rendered as null has to be absent.
 */
import { isRecord } from '../../runtime/core/json.ts';

export function findDifference(rendered: unknown, live: unknown, path = ''): string | undefined {
  if (Array.isArray(rendered)) return findInList(rendered, live, path);
  if (rendered === null) return live === undefined || live === null ? undefined : path;
  if (!isRecord(rendered)) return rendered === undefined || rendered === live ? undefined : path;
  const fields = Object.entries(rendered).filter(([, value]) => value !== undefined);
  // The API server leaves out what is empty.
  if (live === undefined) return fields.length === 0 ? undefined : path;
  if (!isRecord(live)) return path;
  const added = SELECTOR.test(path) && Object.keys(live).find((name) => !(name in rendered));
  if (added) return `${path}.${added}`;
  return first(fields.map(([name, value]) => findDifference(value, live[name], `${path}.${name}`)));
}

/** Maps of labels, which the API server takes as a whole. */
const SELECTOR =
  /\.(?:selector|podSelector|namespaceSelector|labelSelector|matchLabels|nodeSelector)$/;

function findInList(rendered: readonly unknown[], live: unknown, path: string): string | undefined {
  if (live === undefined) return rendered.length === 0 ? undefined : path;
  if (!Array.isArray(live) || live.length !== rendered.length) return path;
  return first(
    rendered.map((item, index) => findDifference(item, live[index], `${path}[${index}]`)),
  );
}

function first(found: readonly (string | undefined)[]): string | undefined {
  return found.find((path) => path !== undefined);
}

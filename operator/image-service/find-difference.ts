/**
 * Where an object of the cluster is not as it was rendered: the paths of the outermost fields that differ. What the API
 * server added by itself does not count; a list and a selector have to be the same, so that what somebody added to one is
 * seen: one label more and it selects no pod. What is rendered as null has to be absent.
 */
import { isRecord } from '../../runtime/core/json.ts';
import { withoutMarks } from './render/object.ts';

/** The first of them, or nothing. */
export function findDifference(rendered: unknown, live: unknown): string | undefined {
  return findDifferences(rendered, live)[0];
}

export function findDifferences(rendered: unknown, live: unknown, path = ''): string[] {
  if (Array.isArray(rendered)) return findInList(rendered, live, path);
  if (rendered === null) return live === undefined || live === null ? [] : [path];
  if (!isRecord(rendered)) return rendered === undefined || rendered === live ? [] : [path];
  const fields = Object.entries(rendered).filter(([, value]) => value !== undefined);
  // The API server leaves out what is empty.
  if (live === undefined) return fields.length === 0 ? [] : [path];
  if (!isRecord(live)) return [path];
  const added = SELECTOR.test(path) && Object.keys(live).find((name) => !(name in rendered));
  if (added) return [`${path}.${added}`];
  return fields.flatMap(([name, value]) => findDifferences(value, live[name], `${path}.${name}`));
}

/** By what was declared, where that is it: our own marks tell nobody anything. */
export function explainDifferences(rendered: object, live: unknown): string[] {
  const declared = findDifferences(withoutMarks(rendered), live);
  return declared.length > 0 ? declared : findDifferences(rendered, live);
}

/** As people write it. */
export function printPath(path: string): string {
  return path.replace(/^\./, '');
}

/** Maps of labels, which the API server takes as a whole. */
const SELECTOR =
  /\.(?:selector|podSelector|namespaceSelector|labelSelector|matchLabels|nodeSelector)$/;

function findInList(rendered: readonly unknown[], live: unknown, path: string): string[] {
  if (live === undefined) return rendered.length === 0 ? [] : [path];
  if (!Array.isArray(live) || live.length !== rendered.length) return [path];
  return rendered.flatMap((item, index) => findDifferences(item, live[index], `${path}[${index}]`));
}

/**
 * Where an object of the cluster differs from its rendered form: the paths of the outermost fields that differ. Fields
 * that the API server added do not count. Lists and selectors must be equal, so that additions are found: a selector
 * with one more label selects no pod. A field rendered as null must be absent.
 */
import { isRecord } from '../../runtime/core/json.ts';
import { withoutOwnAnnotations } from './render/object.ts';

/** The first path, or undefined. */
export function findDifference(rendered: unknown, live: unknown): string | undefined {
  return findDifferences(rendered, live)[0];
}

function findDifferences(rendered: unknown, live: unknown, path = ''): string[] {
  if (Array.isArray(rendered)) return findInList(rendered, live, path);
  if (rendered === null) return live === undefined || live === null ? [] : [path];
  if (!isRecord(rendered)) return rendered === undefined || rendered === live ? [] : [path];
  const fields = Object.entries(rendered).filter(([, value]) => value !== undefined);
  // The API server omits empty fields.
  if (live === undefined) return fields.length === 0 ? [] : [path];
  if (!isRecord(live)) return [path];
  const added = SELECTOR.test(path) && Object.keys(live).find((name) => !(name in rendered));
  if (added) return [`${path}.${added}`];
  return fields.flatMap(([name, value]) => findDifferences(value, live[name], `${path}.${name}`));
}

/** Prefers declared fields to our own marks, which would tell nobody anything. */
export function explainDifferences(rendered: object, live: unknown): string[] {
  const all = findDifferences(rendered, live);
  if (all.length === 0) return all;
  const declared = findDifferences(withoutOwnAnnotations(rendered), live);
  return declared.length > 0 ? declared : all;
}

/** The path as people write it. */
export function printPath(path: string): string {
  return path.replace(/^\./, '');
}

/** Label maps, which the API server treats as a whole. */
const SELECTOR =
  /\.(?:selector|podSelector|namespaceSelector|labelSelector|matchLabels|nodeSelector)$/;

function findInList(rendered: readonly unknown[], live: unknown, path: string): string[] {
  if (live === undefined) return rendered.length === 0 ? [] : [path];
  if (!Array.isArray(live) || live.length !== rendered.length) return [path];
  return rendered.flatMap((item, index) => findDifferences(item, live[index], `${path}[${index}]`));
}

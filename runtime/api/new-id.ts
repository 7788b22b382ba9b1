/** Validates the id in the path of a PUT, which the caller may choose. Spec: Watermark preset, Recipe. */
import { type IdPrefix, isId } from '../core/ids.ts';
import type { InputIssue } from '../core/input-issue.ts';

/** The issues of an id that does not have the format of its kind. */
export function newIdIssues(prefix: IdPrefix, id = ''): InputIssue[] {
  if (isId(prefix, id)) return [];
  const message = `expected an id of the shape ${prefix}_<26 characters>; leave it out for a new one`;
  return [{ path: 'id', message }];
}

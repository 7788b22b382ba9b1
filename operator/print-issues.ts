/** What zod found wrong with the fields of a live resource, in a sentence for its condition. */
import type { ZodError } from 'zod';
import { printPath } from './files/fault.ts';

/** A condition has room for more; nobody reads so far. */
const LENGTH_MAX = 4096;

export function printIssues({ issues }: ZodError): string {
  const lines = issues.map(
    ({ path, message }) => `\`${printPath(['spec', ...path])}\`: ${message}`,
  );
  return [...new Set(lines)].join('; ').slice(0, LENGTH_MAX);
}

/** zod's issues with the fields of a live resource, as a sentence for its condition. */
import type { ZodError } from 'zod';
import { printPath } from './files/fault.ts';

/** A condition has room for more, but nobody reads that far. */
const LENGTH_MAX = 4096;

export function printIssues({ issues }: ZodError): string {
  const lines = issues.map(
    ({ path, message }) => `\`${printPath(['spec', ...path])}\`: ${message}`,
  );
  return [...new Set(lines)].join('; ').slice(0, LENGTH_MAX);
}

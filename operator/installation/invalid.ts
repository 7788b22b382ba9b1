/** The conditions of an ImageService whose fields say what the API server could not check. */
import type { ZodError } from 'zod';
import { printPath } from '../files/fault.ts';
import { type Condition, conditionsOf } from '../image-service/conditions.ts';

export function invalidConditions({ issues }: ZodError): Condition[] {
  const lines = issues.map(
    ({ path, message }) => `\`${printPath(['spec', ...path])}\`: ${message}`,
  );
  const message = [...new Set(lines)].join('; ').slice(0, 4096);
  return conditionsOf([{ type: 'Applied', reason: 'SpecInvalid', message }]);
}

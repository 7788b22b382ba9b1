/**
 * The spec of a live ImageService. The API server keeps values that it accepted before a rule existed: an invalid page
 * origin, which no browser ever sends, is left out and reported, instead of blocking everything else.
 */
import type { z } from 'zod';
import { isRecord } from '../../runtime/core/json.ts';
import { printIssues } from '../print-issues.ts';
import { type ImageServiceSpec, imageServiceSpec } from './schema.ts';

/** `wrong`: what was left out, or why the spec cannot be read at all. */
export type ReadSpec =
  | { spec: ImageServiceSpec; wrong: string | undefined }
  | { spec: undefined; wrong: string };

export function readSpec(stored: unknown): ReadSpec {
  const { data, error } = imageServiceSpec.safeParse(stored);
  if (data !== undefined) return { spec: data, wrong: undefined };
  const wrong = printIssues(error);
  const spec = imageServiceSpec.safeParse(unsetFields(stored, error)).data;
  return spec === undefined ? { spec, wrong } : { spec, wrong: `${wrong}; ${LEFT_OUT}` };
}

const LEFT_OUT = 'that is left out until it is corrected, and all else is done as declared';

const ORIGINS: readonly unknown[] = ['dashboardOrigins', 'marketingOrigins'];

/** Returns the spec unchanged if anything else is wrong with it: it is then refused anyway. */
function unsetFields(stored: unknown, { issues }: z.ZodError): unknown {
  if (!isRecord(stored)) return stored;
  const lists = Object.entries(stored).map(([field, value]) => {
    if (!ORIGINS.includes(field) || !Array.isArray(value)) return [field, value];
    const isWrong = (index: number) =>
      issues.some(({ path: [at, item] }) => at === field && item === index);
    return [field, value.filter((_, index) => !isWrong(index))];
  });
  return Object.fromEntries(lists);
}

/**
 * Checks what a caller sent against its zod schema and names every wrong field at once.
 * Spec: Envelope (details of invalid_request).
 */
import type { z } from 'zod';
import { ServiceError } from '../core/errors.ts';

/** One wrong field: `path` as a person writes it (`parts[0].etag`), `message` what was expected. */
export type InputIssue = { path: string; message: string };

/** Without a schema an operation takes no body; an empty object is let pass. */
export function parseBody<Body>(schema: z.ZodType<Body> | undefined, body: unknown): Body {
  if (schema !== undefined) return parse(schema, body);
  if (body === undefined || isEmptyObject(body)) return undefined as Body;
  throw new ServiceError('invalid_request', {
    details: { issues: [{ path: '', message: 'This operation takes no body; send none or {}.' }] },
  });
}

/** Without a schema an operation has no query parameters and ignores what is sent. */
export function parseQuery<Query>(schema: z.ZodType<Query> | undefined, query: unknown): Query {
  return schema === undefined ? (undefined as Query) : parse(schema, query);
}

function parse<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ServiceError('invalid_request', {
    details: { issues: printIssues(result.error.issues) },
  });
}

/** One value can miss the same expectation in two ways; a person reads it once. */
function printIssues(issues: readonly z.core.$ZodIssue[]): InputIssue[] {
  const printed = issues.flatMap(printIssue);
  const isFirst = ({ path, message }: InputIssue, index: number) =>
    printed.findIndex((each) => each.path === path && each.message === message) === index;
  return printed.filter(isFirst);
}

/** A field too many is named as the path, each in an issue of its own. */
function printIssue(issue: z.core.$ZodIssue): InputIssue[] {
  const paths =
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [...issue.path, key])
      : [issue.path];
  return paths.map((path) => ({ path: printPath(path), message: issue.message }));
}

function printPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length === 0
  );
}

/**
 * Checks what a caller sent against its zod schema and names every wrong field at once,
 * within the bounds that keep an answer small.
 * Spec: Envelope (details of invalid_request).
 */
import type { z } from 'zod';
import { cutText } from '../core/cut-text.ts';
import { type InputIssue, wrongInput } from '../core/input-issue.ts';
import { isRecord } from '../core/json.ts';

/**
 * Without a schema an operation takes no body, but `{}` is accepted. `more` are issues to report
 * together with the schema's.
 */
export function parseBody<Body>(
  schema: z.ZodType<Body> | undefined,
  body: unknown,
  more: readonly InputIssue[] = [],
): Body {
  if (schema !== undefined) return parse(schema, body, more);
  if (body === undefined || isEmptyObject(body)) return undefined as Body;
  throw wrongInput({ path: '', message: 'this operation takes no body; send none or {}' });
}

/** Without a schema an operation has no query parameters and ignores what is sent. */
export function parseQuery<Query>(schema: z.ZodType<Query> | undefined, query: unknown): Query {
  if (schema === undefined) return undefined as Query;
  const result = schema.safeParse(query);
  if (result.success) return result.data;
  throw wrongInput(
    ...printIssues(result.error.issues).map((issue) => describeRepeated(issue, query)),
  );
}

/** A repeated parameter arrives as a list; the message says so instead of naming a wrong type. */
function describeRepeated({ path, message }: InputIssue, query: unknown): InputIssue {
  const received = Object.entries(query ?? {}).find(([name]) => name === path)?.[1];
  const isList = Array.isArray(received) && !message.startsWith('unknown');
  return { path, message: isList ? `came ${received.length} times; send it once` : message };
}

function parse<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  more: readonly InputIssue[],
): Value {
  const result = schema.safeParse(value);
  const issues = [...more, ...printIssues(result.error?.issues ?? [])];
  if (!result.success || issues.length > 0) throw wrongInput(...issues);
  return result.data;
}

/** One value can fail in several ways; only the first issue of a field is reported. */
function printIssues(issues: readonly z.core.$ZodIssue[]): InputIssue[] {
  const byPath = Map.groupBy(issues.flatMap(printIssue), ({ path }) => path);
  const printed = [...byPath.values()].flatMap((same) => same.slice(0, 1));
  const more = printed.length - ISSUES_SHOWN_MAX;
  if (more <= 0) return printed;
  return [...printed.slice(0, ISSUES_SHOWN_MAX), { path: '', message: `${more} more are wrong` }];
}

/** An answer stays small, however many errors and however long names a body has. */
const ISSUES_SHOWN_MAX = 100;
const UNKNOWN_SHOWN_MAX = 20;
const NAME_SHOWN_MAX = 64;

/** The first unknown fields become issues of their own, each with the field as its path. */
function printIssue(issue: z.core.$ZodIssue): InputIssue[] {
  const { path, message } = issue;
  if (issue.code !== 'unrecognized_keys') return [{ path: printPath(path), message }];
  const named = issue.keys.slice(0, UNKNOWN_SHOWN_MAX);
  const printed = named.map((key) => ({ path: printPath([...path, key]), message }));
  const more = issue.keys.length - named.length;
  if (more === 0) return printed;
  return [...printed, { path: printPath(path), message: `${more} more are unknown` }];
}

function printPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) =>
      typeof part === 'number' ? `[${part}]` : `.${cutText(String(part), NAME_SHOWN_MAX)}`,
    )
    .join('')
    .replace(/^\./, '');
}

function isEmptyObject(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Moves a refusal that several operations share to `components`, named after its examples. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from './document.ts';

type Refused = { content?: { 'application/json'?: { examples?: Json } } };

/**
 * The paths with references in place of what they share, and the responses that the references
 * name.
 */
export function shareRefusals(paths: Json): { paths: Json; responses: Json } {
  const times = new Map<string, number>();
  visit(paths, (value) => {
    const name = refusalName(value);
    if (name !== undefined) times.set(name, (times.get(name) ?? 0) + 1);
    return value;
  });
  const responses: Record<string, unknown> = {};
  const shared = visit(paths, (value) => {
    const name = refusalName(value);
    if (name === undefined || times.get(name) === 1) return value;
    responses[name] ??= value;
    if (!isDeepStrictEqual(responses[name], value)) throw new Error(`two refusals named ${name}`);
    return { $ref: `#/components/responses/${name}` };
  });
  const sorted = Object.entries(responses).sort(([one], [other]) => (one < other ? -1 : 1));
  return { paths: shared, responses: Object.fromEntries(sorted) };
}

/** Visits from the leaves upwards; the result of `replace` takes the place of the value. */
function visit(paths: Json, replace: (value: unknown) => unknown): Json {
  return JSON.parse(JSON.stringify(paths), (_key, value) => replace(value)) as Json;
}

/** The codes are enough for a unique name, as each code has one status. */
function refusalName(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('description' in value)) return undefined;
  const examples = (value as Refused).content?.['application/json']?.examples;
  return examples && Object.keys(examples).join('.');
}

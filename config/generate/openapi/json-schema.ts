/** A zod schema as JSON Schema 2020-12, as an answer holds it (`output`) or a request sends it (`input`). */
import { z } from 'zod';
import type { Json } from './document.ts';

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...printed } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: found }) => {
      dropNoise(found);
      if (io === 'output') leaveRoom(found);
    },
  });
  return printed;
}

function dropNoise(found: z.core.JSONSchema.BaseSchema): void {
  if (found.minimum === Number.MIN_SAFE_INTEGER) delete found.minimum;
  if (found.type === 'integer') delete found.pattern;
  // A format says it already.
  if (found.format === 'date-time' || found.format === 'date') delete found.pattern;
}

/** An answer may have more fields in a later version. That a number is one of JavaScript's binds requests alone. */
function leaveRoom(found: z.core.JSONSchema.BaseSchema): void {
  if (found.maximum === Number.MAX_SAFE_INTEGER) delete found.maximum;
  if (found.additionalProperties === false && found.properties !== undefined)
    delete found.additionalProperties;
}

/** With a description for each property that has one. */
export function withNotes(schema: Json, notes: Readonly<Record<string, string | undefined>>): Json {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Json>>;
  const described = Object.entries(properties).map(([name, property]) => {
    const note = notes[name];
    return [name, note === undefined ? property : { description: withoutLinks(note), ...property }];
  });
  return { ...schema, properties: Object.fromEntries(described) };
}

/** The words of the reference link to its other pages, which this document has not. */
export function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

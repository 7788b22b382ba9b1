/** A zod schema as JSON Schema 2020-12, for a response (`output`) or a request (`input`). */
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
  // The format already implies the pattern.
  if (found.format === 'date-time' || found.format === 'date') delete found.pattern;
}

/** Later versions may add fields to a response. The safe-integer bound applies to requests only. */
function leaveRoom(found: z.core.JSONSchema.BaseSchema): void {
  if (found.maximum === Number.MAX_SAFE_INTEGER) delete found.maximum;
  if (found.additionalProperties === false && found.properties !== undefined)
    delete found.additionalProperties;
}

/** Adds a description to each property that has a note. */
export function withNotes(schema: Json, notes: Readonly<Record<string, string | undefined>>): Json {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Json>>;
  const described = Object.entries(properties).map(([name, property]) => {
    const note = notes[name];
    return [name, note === undefined ? property : { description: withoutLinks(note), ...property }];
  });
  return { ...schema, properties: Object.fromEntries(described) };
}

/** The reference's notes link to its other pages, which this document does not have. */
export function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

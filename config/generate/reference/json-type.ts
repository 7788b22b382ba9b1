/** The type of a field in plain words, from the JSON Schema that zod prints. */
import { z } from 'zod';
import { code, codes } from './markdown.ts';

/** One field of an object. */
export type Field = { name: string; type: string; isRequired: boolean };

/** The fields of a record in a response, or of a body or query in a request. */
export function fieldsOf(schema: z.ZodType, io: 'input' | 'output'): Field[] {
  const printed: JsonSchema = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  const required = printed.required ?? [];
  return Object.entries(printed.properties ?? {}).map(([name, property]) => ({
    name,
    type: describe(property),
    isRequired: required.includes(name),
  }));
}

type JsonSchema = z.core.JSONSchema.BaseSchema;
type Property = JsonSchema | boolean;

function describe(property: Property): string {
  if (typeof property === 'boolean') return 'any';
  const type = withoutDefault(property);
  return property.default === undefined || property.default === ''
    ? type
    : `${type}; default ${code(String(property.default))}`;
}

function withoutDefault(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(describe).join(' or ');
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum !== undefined) return codes(schema.enum.map(String));
  switch (schema.type) {
    case 'integer':
    case 'number':
      return `${schema.type}${range(schema)}`;
    case 'array':
      return `list of ${describe(oneSchema(schema.items))}`;
    case 'object':
      return object(schema);
    case 'string':
      return FORMATS[schema.format ?? ''] ?? 'string';
    default:
      return [schema.type ?? 'any'].flat().join(' or ');
  }
}

const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'timestamp', date: 'date' };

function oneSchema(items: JsonSchema['items']): Property {
  return Array.isArray(items) ? true : (items ?? true);
}

function object({ properties, additionalProperties }: JsonSchema): string {
  if (properties !== undefined) return `object { ${Object.keys(properties).join(', ')} }`;
  return `object of name to ${describe(additionalProperties ?? true)}`;
}

/** The bounds of safe integers, which every whole number has, are left out. */
function range({ minimum, maximum }: JsonSchema): string {
  const min = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const max = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return `, at least ${min}`;
  return min === undefined ? `, at most ${max}` : ` ${min}..${max}`;
}

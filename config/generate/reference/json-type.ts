/** The type of a field in plain words, from the JSON Schema that zod prints. */
import { z } from 'zod';
import {
  askedTimeForm,
  instantForm,
  SAFE_PATTERN,
  STORABLE_PATTERN,
} from '../../../runtime/core/resources/forms.ts';
import {
  EMBED_ORIGIN_PATTERN,
  HOSTNAME_PATTERN,
} from '../../../runtime/core/resources/web-address.ts';
import { NAME_PATTERN } from '../../../runtime/core/resources/wire.ts';
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
      return `${schema.type}${range({ minimum: schema.minimum, maximum: schema.maximum })}`;
    case 'array':
      return `list${count(schema.minItems || undefined, schema.maxItems)} of ${describe(oneSchema(schema.items))}`;
    case 'object':
      return object(schema);
    case 'string':
      return FORMATS[schema.format ?? ''] ?? `string${length(schema)}${form(schema)}`;
    default:
      return anyType(schema);
  }
}

/** The type may be a list, such as a string or null. */
function anyType({ type = [], ...schema }: JsonSchema): string {
  if (!Array.isArray(type)) return type;
  return type.map((each) => withoutDefault({ ...schema, type: each })).join(' or ') || 'any';
}

function length({ minLength, maxLength, 'x-cut-length': cut }: JsonSchema): string {
  if (cut !== undefined) return `, cut to ${cut} characters`;
  const bounds = range({ minimum: minLength, maximum: maxLength });
  return bounds === '' ? '' : `${bounds} characters`;
}

/** The patterns with a short description; any other is printed. */
const FORMS: Readonly<Record<string, string>> = {
  [STORABLE_PATTERN]: '',
  [SAFE_PATTERN]: ', without control characters',
  [NAME_PATTERN]: ', without control characters',
  [instantForm.pattern]: ', as a timestamp',
  [askedTimeForm.pattern]: ', as a timestamp or a date',
  [EMBED_ORIGIN_PATTERN.source]: ', as an https origin, or a local one with its port',
  [HOSTNAME_PATTERN.source]: ', as a host name with two labels or more',
};

function form({ format, pattern }: JsonSchema): string {
  if (format === 'email') return ', as an e-mail address';
  return pattern === undefined ? '' : (FORMS[pattern] ?? `, as ${code(pattern)}`);
}

/** In brackets, as a list has items with bounds of their own. */
function count(minimum: number | undefined, maximum: number | undefined): string {
  const bounds = range({ minimum, maximum }).replace(/^,? /, '');
  return bounds === '' ? '' : ` (${bounds})`;
}

const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'timestamp', date: 'date' };

function oneSchema(items: JsonSchema['items']): Property {
  return Array.isArray(items) ? true : (items ?? true);
}

function object({ properties, additionalProperties, maxProperties }: JsonSchema): string {
  if (properties !== undefined) return `object { ${Object.keys(properties).join(', ')} }`;
  return `object${count(undefined, maxProperties)} of name to ${describe(additionalProperties ?? true)}`;
}

type Bounds = { minimum: number | undefined; maximum: number | undefined };

/** The bounds of safe integers, which every whole number has, are left out. */
function range({ minimum, maximum }: Bounds): string {
  const min = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const max = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return `, at least ${min}`;
  return min === undefined ? `, at most ${max}` : ` ${min}..${max}`;
}

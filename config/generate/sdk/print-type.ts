/**
 * A JSON schema of the OpenAPI document as a TypeScript type, broken into lines as the formatter would.
 */
export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
};

export function printType(schema: Schema | undefined): string {
  if (schema === undefined) return 'unknown';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if (schema.const !== undefined) return printLiteral(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(printLiteral).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return printUnion(choices.map(printType));
  if (Array.isArray(schema.type)) {
    return printUnion(schema.type.map((type: string) => printType({ ...schema, type })));
  }
  return printNamed(schema);
}

function printNamed(schema: Schema): string {
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly (${printType(schema.items)})[]`;
    case 'object':
      return printObject(schema);
    default:
      return 'unknown';
  }
}

function printObject({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    return `{ readonly [name: string]: ${printType(values)} }`;
  }
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `readonly ${printName(name)}${mark}: ${printType(schema)};`;
  });
  return fields.length === 0 ? '{ readonly [name: string]: never }' : `{ ${fields.join(' ')} }`;
}

function printUnion(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function printName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : printLiteral(name);
}

function printLiteral(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
}

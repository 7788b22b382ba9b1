/**
 * Checks that the OpenAPI document describes every response that a test sees: operation, status, code, and a body with
 * only documented fields.
 */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document; its linter checks the shape.
type Json = any;
type Answered = { method: string; path: string; status: number; body: Json };

const document: Json = JSON.parse(
  readFileSync(new URL('../../runtime/api/openapi.json', import.meta.url), 'utf8'),
);

// Unoptimized, because each validator checks only a few bodies.
const ajv = new Ajv2020({
  strict: false,
  formats: { 'date-time': true, date: true },
  code: { optimize: false },
});
ajv.addSchema({ $id: 'document', components: { schemas: closed(document.components.schemas) } });

const operations = Object.entries<Json>(document.paths)
  .map(([path, methods]) => ({
    path,
    methods,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  // Literal paths match before paths with parameters.
  .sort((one, other) => one.path.split('{').length - other.path.split('{').length);

/**
 * Throws if the document does not describe the response. Ignores requests that are not API
 * operations.
 */
export function expectDocumented({ method, path, status, body }: Answered): void {
  const pathname = path.split('?', 1)[0] ?? '';
  const found = operations.find(({ pattern }) => pattern.test(pathname));
  const operation = found?.methods[method.toLowerCase()];
  if (operation === undefined) return;
  const name = `${method} ${found?.path}`;
  const response = resolved(operation.responses[status]);
  if (response === undefined) throw new Error(`the document has no ${status} for ${name}`);
  const schema = response.content?.['application/json']?.schema;
  if (schema === undefined) {
    if (body !== undefined) throw new Error(`the document has no body for ${status} of ${name}`);
    return;
  }
  const validate = validatorOf(schema);
  if (!validate(body)) {
    const wrong = ajv.errorsText(validate.errors, { dataVar: 'body' });
    throw new Error(`${name} answered ${status}, not as the document says: ${wrong}`);
  }
}

/** Resolves references to the shared responses below `components`. */
function resolved(response: Json): Json {
  const name = response?.$ref?.split('/').at(-1);
  return name === undefined ? response : document.components.responses[name];
}

/** By schema: most responses share one, such as all errors. */
const validators = new Map<string, ValidateFunction>();

function validatorOf(schema: Json): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
  const made = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, made);
  return made;
}

/** Forbids undocumented fields, which the document permits for later versions. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    key === 'examples' ? value : closed(value),
  ]);
  const made = Object.fromEntries(entries);
  const isOpen = made.type !== 'object' || made.properties === undefined;
  return isOpen || 'additionalProperties' in made ? made : { ...made, additionalProperties: false };
}

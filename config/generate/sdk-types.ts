/** Writes runtime/sdk/server/api-types.ts: the operations that take an API key, typed, from the OpenAPI document. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeGenerated } from '../write-generated.ts';
import { printType, type Schema } from './sdk/print-type.ts';

type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Media = { content?: Record<string, { schema: Schema }> };
type Operation = {
  security?: readonly Record<string, unknown>[];
  parameters?: readonly Parameter[];
  requestBody?: Media & { required?: boolean };
  responses: Record<string, Media>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const root = fileURLToPath(new URL('../../', import.meta.url));
const path = 'runtime/sdk/server/api-types.ts';
const openapi = readFileSync(`${root}runtime/api/openapi.json`, 'utf8');
writeGenerated(new Map([[path, format(printModule(JSON.parse(openapi) as Document))]]));

function printModule({ paths, components }: Document): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.some((scheme) => 'ApiKey' in scheme))
      .map(([method, operation]) => printOperation(`${method.toUpperCase()} ${path}`, operation)),
  );
  const records = namesIn(rows.join('\n'), components.schemas);
  const types = records.map((name) => {
    return `export type ${name} = ${printType(components.schemas[name])};\n`;
  });
  return [
    '/** Written by config/generate/sdk-types.ts from the OpenAPI document. Spec: Endpoints. */',
    '',
    '/** What each operation takes and answers, by method and path. */',
    `export type Operations = {\n${rows.join('\n')}\n};`,
    '',
    types.join('\n'),
  ].join('\n');
}

function printOperation(name: string, operation: Operation): string {
  const { parameters = [], requestBody, responses } = operation;
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const answer = success?.content?.['application/json']?.schema;
  const body = requestBody?.content?.['application/json']?.schema;
  const mark = requestBody?.required === true ? '' : '?';
  return [
    `readonly '${name}': {`,
    printParameters('path', parameters),
    printParameters('query', parameters),
    body === undefined ? '' : `readonly body${mark}: ${printType(body)};`,
    `readonly answer: ${answer === undefined ? 'undefined' : printType(answer)};`,
    '};',
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function printParameters(kind: 'path' | 'query', parameters: readonly Parameter[]): string {
  const own = parameters.filter((parameter) => parameter.in === kind);
  if (own.length === 0) return '';
  const isNeeded = own.some(({ required }) => required);
  const properties = Object.fromEntries(own.map(({ name, schema }) => [name, schema]));
  const required = own.filter((parameter) => parameter.required).map(({ name }) => name);
  return `readonly ${kind}${isNeeded ? '' : '?'}: ${printType({ type: 'object', properties, required })};`;
}

/** The records that a text names, and the records that those name in turn. */
function namesIn(text: string, schemas: Document['components']['schemas']): string[] {
  const known = new Set<string>();
  const visit = (printed: string) => {
    for (const [name] of printed.matchAll(/\b[A-Z]\w*/g)) {
      if (known.has(name) || !(name in schemas)) continue;
      known.add(name);
      visit(printType(schemas[name]));
    }
  };
  visit(text.replaceAll(/'[^']*'/g, ''));
  return [...known].toSorted();
}

function format(source: string): string {
  const args = ['format', '--config-path', 'config/lint.json', '--stdin-file-path', path];
  return execFileSync(`${root}node_modules/.bin/biome`, args, {
    cwd: root,
    input: source,
  }).toString();
}

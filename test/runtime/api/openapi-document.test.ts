// The OpenAPI document is complete: every success of JSON has an example, every answer its headers. Spec: Conventions.
import { describe, expect, it } from 'vitest';
import document from '../../../runtime/api/openapi.json' with { type: 'json' };

type Schema = { $ref?: string; example?: unknown; examples?: unknown };
type Media = { schema: Schema; example?: unknown; examples?: unknown };
type Answer = {
  headers?: Record<string, { $ref?: string; schema?: { const?: string } }>;
  content?: Record<string, Media>;
};

const schemas = document.components.schemas as Record<string, Schema>;
const successes = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { responses }]) =>
    Object.entries(responses as Record<string, Answer>)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, answer]) => ({ name: `${method.toUpperCase()} ${path} ${status}`, answer })),
  ),
);

function hasExample({ schema, ...media }: Media): boolean {
  const record = schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  return [media, record].some(({ example, examples }) => (example ?? examples) !== undefined);
}

describe('the OpenAPI document', () => {
  it.each(successes)('$name has an example and its headers', ({ answer: { headers, content } }) => {
    const json = content?.['application/json'];
    expect(json === undefined || hasExample(json)).toBe(true);
    expect(Object.keys(headers ?? {})).toEqual(
      expect.arrayContaining(['x-request-id', 'Cache-Control']),
    );
  });

  it('says no-store but where an answer may be kept', () => {
    expect(document.components.headers['Cache-Control'].schema.const).toBe('no-store');
    const kept = successes.filter(({ answer }) => answer.headers?.['Cache-Control']?.schema);
    expect(kept.map(({ name }) => name)).toContain('GET /v1/public/status 200');
  });

  // The page at /docs follows them as they stand.
  it('refers to names alone', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
    const found = [...references].map(([, reference = '']) => reference);
    expect(found.length).toBeGreaterThan(500);
    const odd = found.filter((each) => !/^#\/components\/\w+\/[\w.-]+$/.test(each));
    expect(odd).toEqual([]);
  });
});

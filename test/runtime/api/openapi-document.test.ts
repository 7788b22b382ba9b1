// The OpenAPI document is complete: every success of JSON has an example, every answer its headers. Spec: Conventions.
import { describe, expect, it } from 'vitest';
import document from '../../../runtime/api/openapi.json' with { type: 'json' };
import { parseEmbedOrigin, parseHostname } from '../../../runtime/core/resources/web-address.ts';

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

function expectAlike(
  { pattern = '' }: { pattern?: string },
  parse: (text: string) => string | undefined,
  texts: readonly string[],
): void {
  const taken = texts.filter((text) => parse(text) !== undefined);
  expect(texts.filter((text) => new RegExp(pattern).test(text))).toEqual(taken);
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

  it('says of everything below /v1 that what it asks may be away, also where nobody has to say who they are', () => {
    const asking = Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/'));
    const silent = asking.flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        '503' in responses ? [] : [`${method.toUpperCase()} ${path}`],
      ),
    );
    expect(silent).toEqual([]);
  });

  it('tells custom domains from what is none, as the service does', () => {
    const { patch } = document.paths['/v1/staff/projects/{slug}'];
    const { custom_domains } = patch.requestBody.content['application/json'].schema.properties;
    const hosts = ['img.shop.example', 'IMG.Shop.Example', 'xn--bcher-kva.example', '1.example'];
    const others = [
      '',
      'localhost',
      '192.0.2.1',
      'a.b.',
      '*.a.example',
      'a_b.example',
      'a.example:80',
    ];
    const long = `${'a'.repeat(64)}.example`;
    expectAlike(custom_domains.items, parseHostname, [...hosts, ...others, long]);
  });

  it('tells the origins that may embed the picker from what is none, as nearly as a pattern can', () => {
    const { patch } = document.paths['/v1/projects/{slug}/libraries/{lib}'];
    const { allowed_origins } = patch.requestBody.content['application/json'].schema.properties;
    const origins = ['https://W.example:8443', 'https://[::1]', 'http://127.0.0.1:80'];
    const others = [
      'https://*.example',
      'https://a@b.example',
      'http://a.example',
      'http://localhost:0',
    ];
    const paths = ['https://a.example/', 'https://a.example?x', 'https://a.example:0', 'https://'];
    expectAlike(allowed_origins.items, parseEmbedOrigin, [...origins, ...others, ...paths]);
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

// The OpenAPI document states the bounds of every text and list of a request, and the API enforces them.
// Spec: Limits, Identifiers and counts.
import { beforeAll, describe, expect, it } from 'vitest';
import document from '../../../runtime/api/openapi.json' with { type: 'json' };
import { type Answer, codeOf, newSubject } from '../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';
import { type LibraryProject, libraryProject, usualInput } from '../../support/library-sessions.ts';

type Schema = {
  type?: string | string[];
  enum?: string[];
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  description?: string;
};
type Operation = {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
type Place = { where: string; schema: Schema };

const paths = document.paths as unknown as Record<string, Record<string, Operation>>;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);
const places = operations.flatMap(({ name, operation }) => placesOf(name, operation));

/** The texts that are cut and not refused, so that every length is accepted. */
const CUT = [
  'PATCH /v1/projects/{slug}/files/{fileSlug} title',
  'PATCH /v1/projects/{slug}/files/{fileSlug} alt_text',
  'POST /v1/library/uploads original_filename',
  'POST /v1/library/uploads title',
];
const COUNTED = ['maxItems', 'maxLength', 'minLength'];
const BOUNDS_OF_TEXTS = ['maxLength', 'pattern', 'enum', 'const', 'format'];

function placesOf(name: string, { parameters = [], requestBody }: Operation): Place[] {
  const bodies = Object.values(requestBody?.content ?? {});
  return [
    ...parameters.flatMap((each) => below(`${name} ${each.name}`, each.schema)),
    ...bodies.flatMap(({ schema }) => below(name, schema)),
  ];
}

/** The schema with all schemas inside it. */
function below(where: string, schema: Schema): Place[] {
  const { properties = {}, items, additionalProperties, anyOf = [] } = schema;
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return [
    { where, schema },
    ...Object.entries(properties).flatMap(([name, each]) => below(`${where} ${name}`, each)),
    ...[...anyOf, ...others].flatMap((each) => below(where, each)),
    ...(items === undefined ? [] : below(`${where}[]`, items)),
  ];
}

function placesOfType(type: string): Place[] {
  return places.filter(({ schema }) => [schema.type].flat().includes(type));
}

describe('the OpenAPI document', () => {
  it('has a bound for every text of a request, unless the text is cut', () => {
    const texts = placesOfType('string');
    expect(texts.length).toBeGreaterThan(150);
    const unbounded = texts.filter(({ schema }) => !BOUNDS_OF_TEXTS.some((key) => key in schema));
    expect(unbounded.map(({ where }) => where)).toEqual(CUT);
    for (const { schema } of unbounded) expect(schema.description).toMatch(/cut to \d+ characters/);
  });

  it('has a maximum for every list of a request', () => {
    const lists = placesOfType('array');
    expect(lists.length).toBeGreaterThan(10);
    expect(lists.filter(({ schema }) => !('maxItems' in schema))).toEqual([]);
  });
});

describe('the API', () => {
  const api = useApi();
  const owner = api.session(newSubject());
  let shop: LibraryProject;

  beforeAll(async () => {
    shop = await libraryProject(api, owner);
  });

  const PROJECT = '/v1/projects/{slug}';
  const image = { content_type: 'image/jpeg', size_bytes: 1000 };
  const note = { title: 'Slow', severity: 'minor', body: 'Images are slow.' };
  /** A request, the field that is out of bounds, and the code of the refusal. */
  const cases: [string, string, object | null, string][] = [
    [`POST ${PROJECT}/library-sessions`, 'subject', usualInput, 'invalid_subject'],
    [`POST ${PROJECT}/library-sessions`, 'folder', usualInput, 'invalid_folder'],
    [`POST ${PROJECT}/library-sessions`, 'permissions', usualInput, 'invalid_request'],
    [`POST ${PROJECT}/library-sessions/revoke`, 'subject', {}, 'invalid_subject'],
    [`POST ${PROJECT}/uploads`, 'folder', image, 'invalid_folder'],
    [`POST ${PROJECT}/files/move`, 'folder', { file_slugs: ['a'] }, 'invalid_folder'],
    [`POST ${PROJECT}/files/move`, 'file_slugs', { folder: '' }, 'invalid_request'],
    [`POST ${PROJECT}/keys`, 'scopes', { name: 'a' }, 'invalid_request'],
    [`POST ${PROJECT}/signed-url`, 'transform_chain', { file_slug: 'a' }, 'invalid_request'],
    ['POST /v1/staff/incidents', 'services', note, 'invalid_request'],
    [`GET ${PROJECT}/files`, 'folder', null, 'invalid_folder'],
    [`GET ${PROJECT}/files`, 'search', null, 'invalid_search'],
    [`GET ${PROJECT}/files`, 'uploader', null, 'invalid_subject'],
    [`GET ${PROJECT}/files`, 'cursor', null, 'invalid_cursor'],
  ];

  it.each(cases)(
    'refuses a value beyond the documented bound: %s, %s',
    async (name, field, rest, code) => {
      const own = places.filter(({ where }) => where === `${name} ${field}`);
      const found = own.find(({ schema }) => COUNTED.some((key) => key in schema));
      const answer = await ask(name, { field, value: beyond(found?.schema ?? {}), rest });
      expect(codeOf(answer)).toBe(`400 ${code}`);
      if (code === 'invalid_request') {
        const { issues } = answer.body.error.details;
        expect(issues).toEqual([{ path: field, message: expect.stringMatching(/^expected /) }]);
      }
    },
  );

  async function ask(
    name: string,
    { field, value, rest }: { field: string; value: unknown; rest: object | null },
  ): Promise<Answer> {
    const [method = '', template = ''] = name.split(' ');
    const path = template.replace('{slug}', shop.project.project_slug);
    if (rest === null) {
      const query = new URLSearchParams({ library: 'press', [field]: String(value) });
      return shop.key(method, `${path}?${query}`);
    }
    const caller = callerOf(template);
    return caller(method, path, { ...rest, [field]: value });
  }

  function callerOf(template: string) {
    if (template.startsWith('/v1/staff/')) return api.session(STAFF_SUBJECT);
    return template.endsWith('/keys') ? owner : shop.key;
  }
});

/** The largest text or list that is allowed, and one more; for a minimum, one less. */
function beyond({ items, maxItems, maxLength, minLength }: Schema): unknown {
  if (maxItems !== undefined) {
    const item = items?.enum?.[0] ?? 'a';
    return Array.from({ length: maxItems + 1 }, () => item);
  }
  if (maxLength !== undefined) return 'a'.repeat(maxLength + 1);
  if (minLength !== undefined) return 'a'.repeat(minLength - 1);
  throw new Error('the document states no bound');
}

// Spec: Envelope (details of invalid_request). One response reports all mistakes, with a message for each field.
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { parseBody, parseQuery } from '../../../runtime/api/parse-input.ts';
import { createApiKeyBody } from '../../../runtime/core/resources/api-key.ts';
import { unparsedPart } from '../../../runtime/core/resources/chain.ts';
import { moderationNoteBody, moveFilesBody } from '../../../runtime/core/resources/file.ts';
import { listFilesQuery } from '../../../runtime/core/resources/file-query.ts';
import { createProjectBody, patchProjectBody } from '../../../runtime/core/resources/project.ts';
import { putRecipeBody } from '../../../runtime/core/resources/recipe.ts';
import { signedUrlBody } from '../../../runtime/core/resources/signing-key.ts';
import { createUploadBody } from '../../../runtime/core/resources/upload.ts';
import { resolveUsageRange } from '../../../runtime/core/resources/usage.ts';
import { putWatermarkPresetBody } from '../../../runtime/core/resources/watermark-preset.ts';
import { wrongInput } from '../../support/wrong-input.ts';

const said = (parse: () => unknown): Record<string, string> =>
  Object.fromEntries(wrongInput(parse).map(({ path, message }) => [path, message]));

const NAME = 'a text of 1 to 120 characters without control characters';
const CHAIN = 'a transform chain such as resize/640x480/fit/format/webp';
const SCOPE =
  'expected one of files:read, files:write, urls:sign, recipes:read, recipes:write, library:sessions';
const SLUG =
  'a slug: a letter or digit, then up to 127 letters, digits, dots, underscores or hyphens';

describe('an invalid body', () => {
  const cases: [string, z.ZodType, unknown, Record<string, string>][] = [
    [
      'no body',
      putRecipeBody,
      undefined,
      { '': 'required: a JSON object with name, transform_chain, schema_version' },
    ],
    [
      'a list',
      putRecipeBody,
      [],
      { '': 'expected a JSON object with name, transform_chain, schema_version' },
    ],
    [
      'missing fields',
      putRecipeBody,
      {},
      { name: `required: ${NAME}`, transform_chain: `required: ${CHAIN}` },
    ],
    [
      'null and a wrong number',
      putRecipeBody,
      { name: null, transform_chain: '', schema_version: 2 },
      {
        name: `expected ${NAME}`,
        transform_chain: `expected ${CHAIN}; "" cannot be read`,
        schema_version: 'expected the number 1',
      },
    ],
    [
      'an unknown field and a wrong one',
      createApiKeyBody,
      { name: '', scope: [], Name: '' },
      {
        name: `expected ${NAME}`,
        scope: 'unknown field; known fields: name, scopes',
        Name: 'unknown field; known fields: name, scopes',
      },
    ],
    [
      'wrong items',
      createApiKeyBody,
      { name: 'a', scopes: ['files:read', 'files', 7] },
      { 'scopes[1]': SCOPE, 'scopes[2]': SCOPE },
    ],
    [
      'a text instead of a list',
      createApiKeyBody,
      { name: 'a', scopes: '' },
      {
        scopes:
          'expected a list of scopes: files:read, files:write, urls:sign, recipes:read, recipes:write, library:sessions',
      },
    ],
    [
      'a missing slug and other errors',
      createProjectBody,
      { name: 5, cors_allowed_origins: [5, '*'] },
      {
        project_slug:
          'required: a DNS label: lower-case letters, digits and inner hyphens, at most 63, not a reserved word',
        name: `expected ${NAME}`,
        'cors_allowed_origins[0]': 'expected an origin such as https://shop.example, or *',
      },
    ],
    [
      'a field and its former name',
      createProjectBody,
      { project_slug: 'one', slug: 'two', name: '' },
      {
        slug: 'slug is the old name of project_slug; send only one of them',
        name: `expected ${NAME}`,
      },
    ],
    [
      'a chain to sign with a side that is too long',
      signedUrlBody,
      { file_slug: 'a', transform_chain: 'format/webp/resize/9000x1' },
      { transform_chain: `expected ${CHAIN}; "resize/9000x1" cannot be read` },
    ],
    [
      'wrong presets',
      patchProjectBody,
      {
        resolution_presets: {
          'A b': 'resize/9x9',
          thumb: 'quality/9/spin/90',
          both: 'preset:thumb',
        },
      },
      {
        'resolution_presets.A b':
          'expected a name of lower-case letters, digits, dots, underscores or hyphens, at most 64, beginning with a letter or digit',
        'resolution_presets.thumb': `expected ${CHAIN}; "spin/90" cannot be read`,
        'resolution_presets.both':
          'expected a transform chain without preset:, as presets do not nest',
      },
    ],
    [
      'a wrong number in a nullable field',
      patchProjectBody,
      { storage_hard_limit_bytes: -1, pricing_multiplier: 'x' },
      {
        storage_hard_limit_bytes: 'expected a whole number of at least 0, or null',
        pricing_multiplier: 'expected a number from 0 to 1000 with at most 6 decimals',
      },
    ],
    [
      'an unsafe integer',
      patchProjectBody,
      { storage_hard_limit_bytes: 2 ** 53 },
      {
        storage_hard_limit_bytes: 'expected a whole number of at most 9007199254740991, or null',
      },
    ],
    [
      'two conflicting fields and a wrong one',
      createUploadBody,
      { content_type: 'image/png', size_bytes: 0, mode: 'proxy', parts: 2 },
      {
        size_bytes: 'expected a whole number of at least 1',
        parts: 'several parts work in mode direct only; leave them out, or use mode direct',
      },
    ],
    [
      'a kind that the chain excludes, and a wrong slug',
      signedUrlBody,
      { file_slug: '-', transform_chain: 'originals', kind: 'raw', expires_in_seconds: 1 },
      {
        file_slug: `expected ${SLUG}`,
        kind: 'transform_chain originals stands for kind originals; leave one of them out',
        expires_in_seconds: 'expected a whole number from 60 to 3600, or null',
      },
    ],
    [
      'a field under both of its names',
      moderationNoteBody,
      { note: 'a', body: 'b', text: 'c' },
      {
        body: 'body is another name of note; send only one of them',
        text: 'unknown field; known fields: note, body',
      },
    ],
    [
      'a text that is too long',
      moderationNoteBody,
      { note: 'x'.repeat(4001) },
      { note: 'expected a text of at most 4000 characters' },
    ],
    [
      'numbers out of range',
      putWatermarkPresetBody,
      { name: 'a', file_slug: 'a.png', x_offset: 1e9, opacity: '80' },
      {
        x_offset: 'expected a number from -8192 to 8192',
        opacity: 'expected a number from 0 to 100',
      },
    ],
  ];

  it.each(cases)(
    'is answered with every wrong field and what was expected: %s',
    (_what, schema, body, issues) => {
      expect(said(() => parseBody(schema, body))).toEqual(issues);
    },
  );

  it('is answered with the first 20 unknown fields and the number of the remaining ones', () => {
    const fields = Array.from({ length: 1000 }, (_, at) => [`field_${at}`, at]);
    const issues = wrongInput(() => parseBody(createApiKeyBody, Object.fromEntries(fields)));
    expect(issues.filter(({ path }) => path.startsWith('field_'))).toHaveLength(20);
    expect(issues).toContainEqual({ path: '', message: '980 more are unknown' });
    expect(issues).toContainEqual({ path: 'name', message: expect.stringMatching(/^required: /) });
  });

  it('is answered with at most 100 errors and the number of the remaining ones', () => {
    const file_slugs = Array.from({ length: 1000 }, (_, at) => `-${at}`);
    const issues = wrongInput(() => parseBody(moveFilesBody, { file_slugs, folder: '' }));
    expect(issues).toHaveLength(101);
    expect(issues.at(-1)).toEqual({ path: '', message: '900 more are wrong' });
  });

  it('is answered briefly if names of fields are long', () => {
    const body = { ['k'.repeat(250_000)]: 1, resolution_presets: { ['n'.repeat(250_000)]: 'x' } };
    const issues = wrongInput(() => parseBody(patchProjectBody, body));
    expect(issues).toHaveLength(2);
    for (const { path } of issues) expect(path.length).toBeLessThan(100);
  });

  it('is answered without reading a transform chain that is too long', () => {
    const body = { allowed_transform_chains: ['a/'.repeat(125_000)] };
    expect(said(() => parseBody(patchProjectBody, body))).toEqual({
      'allowed_transform_chains[0]': 'expected a transform chain of at most 512 characters',
    });
  });

  it('is answered without checking the entries of what has too many', () => {
    const wrong = (count: number) => Array.from({ length: count }, () => '/'.repeat(512));
    const body = {
      allowed_transform_chains: wrong(65),
      cors_allowed_origins: wrong(201),
      resolution_presets: Object.fromEntries(wrong(33).map((chain, at) => [`p${at}`, chain])),
    };
    expect(said(() => parseBody(patchProjectBody, body))).toEqual({
      allowed_transform_chains: 'expected a list of at most 64 transform chains',
      cors_allowed_origins: 'expected a list of at most 200 origins',
      resolution_presets: 'expected at most 32 presets',
    });
  });
});

// Reading every beginning anew would take hours for a chain of this length.
it('the part of a chain that cannot be read is found in one pass', () => {
  const text = `resize/1x1/smart/${'/'.repeat(1_000_000)}`;
  expect(unparsedPart(text)).toBe('"/"');
  expect(unparsedPart('crop/0,0,9,9/format/png/crop/0,0,8,8')).toBe('"crop/0,0,8,8"');
});

describe('an invalid query', () => {
  it('is answered with all unknown, invalid and repeated parameters', () => {
    const query = { limit: ['1', '2'], status: 'gone', sort: '', page: ['1', '2'], q: 'a\0' };
    const { page, ...issues } = said(() => parseQuery(listFilesQuery, query));
    expect(page).toMatch(/^unknown parameter; known parameters: status, q, /);
    expect(issues).toEqual({
      limit: 'came 2 times; send it once',
      status: 'expected one of ready, blocked, deleted',
      sort: 'expected one of uploaded, name, taken',
      q: 'expected a text; U+0000 and lone surrogates cannot be stored',
    });
  });

  it('is answered with both ends of an invalid time range', () => {
    const range = () => resolveUsageRange({ from: 'May', to: '2026-02-30' }, new Date());
    expect(Object.keys(said(range)).toSorted()).toEqual(['from', 'to']);
  });
});

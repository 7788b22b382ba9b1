// Spec: Envelope (details of invalid_request). Every kind of wrong input at every endpoint gets a readable message.
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { parseBody, parseQuery } from '../../../runtime/api/parse-input.ts';
import { wrongInput } from '../../support/wrong-input.ts';

/** How our messages begin; those of the schema library begin with "Invalid input". */
const SENTENCE =
  /^(?:required: |expected |unknown (?:field; known fields: |field; no field is known$|parameter; known parameters: )|came 2 times; |\d+ more are (?:unknown|wrong)$|[a-z_]+ is (?:the old|another) name of |parts work |kind [a-z]+ |transform_chain )/;

/** The fields and parameters that operations have. */
const NAMES = [
  'name',
  'project_slug',
  'slug',
  'organization_id',
  'delivery_access',
  'cors_allowed_origins',
  'resolution_presets',
  'allowed_transform_chains',
  'default_watermark_preset_id',
  'project_default_watermark',
  'raw_download_enabled',
  'callback_url',
  'rotate_callback_secret',
  'status',
  'storage_hard_limit_bytes',
  'pricing_multiplier',
  'scopes',
  'file_slug',
  'transform_chain',
  'kind',
  'expires_in_seconds',
  'x_offset',
  'y_offset',
  'opacity',
  'schema_version',
  'content_type',
  'size_bytes',
  'sha256',
  'mode',
  'parts',
  'library',
  'folder',
  'title',
  'alt_text',
  'note',
  'body',
  'events',
  'limit',
  'cursor',
  'q',
  'search',
  'bbox',
  'sort',
  'include',
  'recursive',
  'has_location',
  'from',
  'to',
];
const each = (value: unknown) =>
  Object.fromEntries([...NAMES, 'nothing'].map((name) => [name, value]));
const TEXTS = ['', 'we ird', 'a\0', 'x'.repeat(5000), ['a', 'b']];
const WRONG_TEXTS = TEXTS.map(each);
const WRONG = [
  undefined,
  null,
  [],
  'text',
  7,
  {},
  ...[...TEXTS, null, true, -7.5, ['we ird', 5, null], { 'A b': 'resize', c: 4 }].map(each),
];

describe('every endpoint', () => {
  const schemas = endpoints.flatMap(({ method, path, body, query }) => [
    ...(body === null
      ? []
      : [
          {
            name: `${method} ${path}`,
            parse: (sent: unknown) => parseBody(body, sent),
            values: WRONG,
          },
        ]),
    ...(query === null
      ? []
      : [
          {
            name: `${method} ${path}?`,
            parse: (sent: unknown) => parseQuery(query, sent),
            values: WRONG_TEXTS,
          },
        ]),
  ]);

  it.each(schemas)(
    '$name names each wrong field once, in a readable sentence',
    ({ parse, values }) => {
      for (const value of values) {
        const issues = wrongInput(() => parse(value));
        expect(new Set(issues.map(({ path }) => path)).size).toBe(issues.length);
        for (const { message } of issues) expect(message).toMatch(SENTENCE);
      }
    },
  );
});

// What all request bodies have in common: unknown fields are rejected, and messages say what was expected.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseCursor } from '../../../../runtime/core/cursor.ts';
import * as accessRequest from '../../../../runtime/core/resources/access-request.ts';
import * as apiKey from '../../../../runtime/core/resources/api-key.ts';
import * as file from '../../../../runtime/core/resources/file.ts';
import * as fileQuery from '../../../../runtime/core/resources/file-query.ts';
import * as inbound from '../../../../runtime/core/resources/inbound.ts';
import * as incident from '../../../../runtime/core/resources/incident.ts';
import * as library from '../../../../runtime/core/resources/library.ts';
import * as librarySession from '../../../../runtime/core/resources/library-session.ts';
import * as organization from '../../../../runtime/core/resources/organization.ts';
import * as project from '../../../../runtime/core/resources/project.ts';
import * as recipe from '../../../../runtime/core/resources/recipe.ts';
import * as scannerCheck from '../../../../runtime/core/resources/scanner-check.ts';
import * as signingKey from '../../../../runtime/core/resources/signing-key.ts';
import * as upload from '../../../../runtime/core/resources/upload.ts';
import * as usage from '../../../../runtime/core/resources/usage.ts';
import * as watermarkPreset from '../../../../runtime/core/resources/watermark-preset.ts';
import * as webhookDelivery from '../../../../runtime/core/resources/webhook-delivery.ts';
import { parseLibrarySlug } from '../../../../runtime/core/slug.ts';

const modules = [
  accessRequest,
  apiKey,
  file,
  fileQuery,
  inbound,
  incident,
  library,
  librarySession,
  organization,
  project,
  recipe,
  scannerCheck,
  signingKey,
  upload,
  usage,
  watermarkPreset,
  webhookDelivery,
];

const OF_THE_LIBRARY = /^(Invalid|Too |Unrecognized|Expected)/;

const schemas = modules
  .flatMap((each) => Object.entries<unknown>(each))
  .filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType);
// The API sends webhookBody and never receives it.
const bodies = schemas.filter(([name]) => name.endsWith('Body') && name !== 'webhookBody');
const closed = bodies.filter(([name]) => !/^(storageEvents|provider[AB]Event)Body$/.test(name));

describe('request bodies', () => {
  it('are found by this test, more than 25 of them', () => {
    expect(bodies.length).toBeGreaterThan(25);
  });

  it.each(closed)('%s rejects an unknown field and names it', (_name, schema) => {
    const { error } = schema.safeParse({ no_such_field: 1 });
    expect(error?.issues).toContainEqual(
      expect.objectContaining({
        keys: ['no_such_field'],
        message: expect.stringMatching(/^unknown field; /),
      }),
    );
  });

  it.each(bodies)(
    '%s rejects a value that is not an object, with one issue and a message of its own',
    (_name, schema) => {
      for (const value of [null, 7, 'text', []]) {
        const { error } = schema.safeParse(value);
        expect(error?.issues).toHaveLength(1);
        expect(error?.issues[0]?.message).not.toMatch(OF_THE_LIBRARY);
      }
    },
  );

  it.each(closed)('%s never exposes a default message of zod', (_name, schema) => {
    for (const wrong of [7, '', null, {}, [], true, 'x'.repeat(5000), -1, 0.5]) {
      for (const field of fieldsOf(schema)) {
        const { error } = schema.safeParse({ [field]: wrong });
        for (const { message } of error?.issues ?? []) {
          expect(message).not.toMatch(OF_THE_LIBRARY);
        }
      }
    }
  });
});

describe('every schema', () => {
  it.each(schemas)('%s converts to JSON Schema for the documentation', (_name, schema) => {
    expect(() => z.toJSONSchema(schema, { io: 'input' })).not.toThrow();
  });
});

/**
 * Fields with own error codes for wrong values: not the schema, but these parsers reject U+0000.
 */
const judgedLater: Readonly<Record<string, (text: string) => unknown>> = {
  folder: fileQuery.requireFolder,
  search: fileQuery.parseSearch,
  subject: fileQuery.requireSubject,
  uploader: fileQuery.requireSubject,
  bbox: fileQuery.parseBox,
  cursor: (cursor) =>
    parseCursor([Buffer.alloc(32)], { route: '', project_id: '', sort: '', filters: '' }, cursor),
  slug: parseLibrarySlug,
  from: (from) => usage.resolveUsageRange({ from }, new Date()),
  to: (to) => usage.resolveUsageRange({ to }, new Date()),
};
/**
 * Fields that never reach the database as text: hints, lists validated as a whole, and fields that
 * are dropped or rejected.
 */
const UNJUDGED = /^(events|object|data|parts|source_ip_hash|locale|delivery_access|map_enabled)$/;

describe('text that PostgreSQL cannot store', () => {
  const inputs = schemas.filter(([name]) => /(Body|Query)$/.test(name) && name !== 'webhookBody');
  const fields = inputs.flatMap(([name, schema]) =>
    fieldsOf(schema).map((field) => ({ name, schema, field })),
  );
  const wrongTexts = ['https://a.b/\0', 'a\0b', '\0', '\ud83d'];

  it.each(fields)('does not pass $name.$field', ({ schema, field }) => {
    const judge = judgedLater[field];
    for (const text of wrongTexts) {
      for (const value of [text, [text], { [text]: 'resize/1x1' }, { a: text }]) {
        if (UNJUDGED.test(field)) continue;
        const { error } = schema.safeParse({ [field]: value });
        const isRefused = error?.issues.some(({ path }) => path[0] === field) ?? false;
        const isCleaned = /^(title|alt_text|original_filename)$/.test(field);
        expect(isRefused || isCleaned || isJudged(judge, text), JSON.stringify(value)).toBe(true);
      }
    }
  });
});

function isJudged(judge: ((text: string) => unknown) | undefined, text: string): boolean {
  if (judge === undefined) return false;
  try {
    return judge(text) === undefined;
  } catch {
    return true;
  }
}

describe('queries', () => {
  const queries = schemas.filter(([name]) => name.endsWith('Query'));

  it.each(queries)('%s rejects an unknown parameter and lists the known ones', (_name, schema) => {
    const { error } = schema.safeParse({ bogus: '1' });
    const known = fieldsOf(schema).join(', ');
    const sentences = error?.issues.map((issue) => issue.message) ?? [];
    expect(sentences).toContain(`unknown parameter; known parameters: ${known}`);
  });
});

function fieldsOf(schema: z.ZodType): string[] {
  const { properties, anyOf } = z.toJSONSchema(schema, { io: 'input' });
  return Object.keys(
    properties ??
      anyOf?.flatMap((each) =>
        typeof each === 'object' ? Object.keys(each.properties ?? {}) : [],
      ) ??
      {},
  );
}

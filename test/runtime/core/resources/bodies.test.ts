// What every request body has in common: closed, and wrong in words that say what was expected.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
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

const schemas = modules
  .flatMap((each) => Object.entries<unknown>(each))
  .filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType);
const bodies = schemas.filter(([name]) => name.endsWith('Body'));
const closed = bodies.filter(
  ([name]) => !/^(storageEvents|provider[AB]Event|webhook)Body$/.test(name),
);

describe('request bodies', () => {
  it('are all here', () => {
    expect(bodies.length).toBeGreaterThan(25);
  });

  it.each(closed)('%s refuses an unknown field and names it', (_name, schema) => {
    const { error } = schema.safeParse({ no_such_field: 1 });
    expect(error?.issues.map((issue) => issue.message).join()).toContain(
      'unknown field no_such_field',
    );
  });

  it.each(bodies)('%s refuses what is no object in its own words', (_name, schema) => {
    for (const value of [null, 7, 'text', []]) {
      const { error } = schema.safeParse(value);
      expect(error?.issues).toHaveLength(1);
    }
  });

  it.each(closed)('%s never answers with a message of the library', (_name, schema) => {
    for (const wrong of [7, '', null, {}, [], true, 'x'.repeat(5000), -1, 0.5]) {
      for (const field of fieldsOf(schema)) {
        const { error } = schema.safeParse({ [field]: wrong });
        for (const { message } of error?.issues ?? []) {
          expect(message).not.toMatch(/^(Invalid|Too |Unrecognized|Expected)/);
        }
      }
    }
  });
});

describe('every schema', () => {
  it.each(schemas)('%s prints as JSON Schema, so that it can be documented', (_name, schema) => {
    expect(() => z.toJSONSchema(schema, { io: 'input' })).not.toThrow();
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

// Spec: Resources and their fields. The fields of each record, in both directions.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createdApiKeyRecord } from '../../runtime/core/resources/api-key.ts';
import { fileRecord } from '../../runtime/core/resources/file.ts';
import { libraryRecord } from '../../runtime/core/resources/library.ts';
import { librarySessionRecord } from '../../runtime/core/resources/library-session.ts';
import { organizationRecord } from '../../runtime/core/resources/organization.ts';
import { staffProjectRecord } from '../../runtime/core/resources/project.ts';
import { recipeRecord } from '../../runtime/core/resources/recipe.ts';
import { signingKeyRecord } from '../../runtime/core/resources/signing-key.ts';
import { uploadRecord } from '../../runtime/core/resources/upload.ts';
import { usageRecord } from '../../runtime/core/resources/usage.ts';
import { watermarkPresetRecord } from '../../runtime/core/resources/watermark-preset.ts';
import { webhookBody } from '../../runtime/core/resources/webhook-delivery.ts';
import additions from './additions.json' with { type: 'json' };
import { differences, NONE, type Table } from './differences.ts';
import specification from './resources.json' with { type: 'json' };

// For each resource, the record with all fields that any response can have.
const records: Record<string, z.ZodObject> = {
  Organization: organizationRecord,
  Project: staffProjectRecord,
  'API key': createdApiKeyRecord,
  'Signing key': signingKeyRecord,
  'Upload session': uploadRecord,
  File: fileRecord,
  'Watermark preset': watermarkPresetRecord,
  Recipe: recipeRecord,
  Library: libraryRecord,
  'Library session': librarySessionRecord,
  'Usage record': usageRecord,
  'Webhook delivery': webhookBody,
};

type Field = { name: string; request_only?: boolean; fields?: string[] };
type Resource = { resource: string; fields: Field[] };
const resources: Resource[] = specification.resources;

const names = (all: readonly string[]): Table =>
  Object.fromEntries(all.map((name) => [name, true]));

function expected({ resource, fields }: Resource): string[] {
  const ours = additions.fields.filter((row) => row.resource === resource);
  return [
    ...fields.filter((field) => !field.request_only).map((field) => field.name),
    ...ours.flatMap((row) => row.fields),
  ];
}

describe('the resources', () => {
  it('of the specification each have a record', () => {
    const all = resources.map((each) => each.resource);
    expect(differences(names(all), names(Object.keys(records)))).toEqual(NONE);
  });

  it.each(resources.filter(({ resource }) => Object.hasOwn(records, resource)))(
    '$resource has every field of the specification, and others only as additions',
    (resource) => {
      const shape = records[resource.resource]?.shape ?? {};
      expect(differences(names(expected(resource)), names(Object.keys(shape)))).toEqual(NONE);
    },
  );

  const nested = resources.flatMap(({ resource, fields }) =>
    fields.filter((field) => field.fields).map((field) => ({ resource, ...field })),
  );

  it.each(nested)(
    '$name of $resource has every field of the specification, and no other',
    (field) => {
      const schema = records[field.resource]?.shape[field.name];
      expect(differences(names(field.fields ?? []), names(fieldsOf(schema)))).toEqual(NONE);
    },
  );
});

/** The fields, optional or not, of an object or of the objects in a list. */
function fieldsOf(schema: unknown): string[] {
  if (schema instanceof z.ZodOptional) return fieldsOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

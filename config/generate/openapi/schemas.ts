/** The records that answers are made of, by name, with their fields' words and an example of each. */
import type { z } from 'zod';
import {
  apiKeyRecord,
  createdApiKeyRecord,
  keyIntrospectionRecord,
} from '../../../runtime/core/resources/api-key.ts';
import { fileRecord, moderationNoteRecord } from '../../../runtime/core/resources/file.ts';
import { meRecord, organizationRecord } from '../../../runtime/core/resources/organization.ts';
import { projectRecord } from '../../../runtime/core/resources/project.ts';
import { recipeRecord } from '../../../runtime/core/resources/recipe.ts';
import { signedUrlRecord, signingKeyRecord } from '../../../runtime/core/resources/signing-key.ts';
import { uploadPartsRecord, uploadRecord } from '../../../runtime/core/resources/upload.ts';
import { usageRecord } from '../../../runtime/core/resources/usage.ts';
import { watermarkPresetRecord } from '../../../runtime/core/resources/watermark-preset.ts';
import { fieldNotes } from '../reference/field-notes.ts';
import type { Json } from './document.ts';
import { examples } from './examples.ts';
import { jsonSchema, withNotes } from './json-schema.ts';
import { countedEventsRecord, healthRecord, readinessRecord } from './probes.ts';

export const records = {
  ApiKey: apiKeyRecord,
  CallingKey: keyIntrospectionRecord,
  CountedEvents: countedEventsRecord,
  CreatedApiKey: createdApiKeyRecord,
  File: fileRecord,
  Health: healthRecord,
  Me: meRecord,
  ModerationNote: moderationNoteRecord,
  Organization: organizationRecord,
  Project: projectRecord,
  Readiness: readinessRecord,
  Recipe: recipeRecord,
  SignedUrl: signedUrlRecord,
  SigningKey: signingKeyRecord,
  Upload: uploadRecord,
  UploadParts: uploadPartsRecord,
  Usage: usageRecord,
  WatermarkPreset: watermarkPresetRecord,
} as const satisfies Record<string, z.ZodType>;

export type RecordName = keyof typeof records;

/** Words of the reference, where it has some for the record. */
const notesOf: Partial<Record<RecordName, Readonly<Record<string, string | undefined>>>> = {
  ApiKey: fieldNotes['api key'],
  CallingKey: fieldNotes['api key'],
  CreatedApiKey: { ...fieldNotes['api key'], ...fieldNotes['created api key'] },
  File: fieldNotes.file,
  Me: fieldNotes.me,
  Organization: fieldNotes.organization,
  Project: fieldNotes.project,
  Recipe: fieldNotes.recipe,
  SignedUrl: fieldNotes['signed url'],
  SigningKey: fieldNotes['signing key'],
  Upload: fieldNotes.upload,
  Usage: fieldNotes.usage,
  WatermarkPreset: fieldNotes['watermark preset'],
};

const TIMES = { created_at: 'When it was made.', updated_at: 'When it last changed.' };

export function recordSchemas(): Json {
  const names = Object.keys(records) as RecordName[];
  return Object.fromEntries(names.map((name) => [name, recordSchema(name)]));
}

function recordSchema(name: RecordName): Json {
  const schema = withNotes(jsonSchema(records[name], 'output'), { ...TIMES, ...notesOf[name] });
  // An example that is no such record stops the generator.
  return { ...schema, examples: [records[name].parse(examples[name])] };
}

/**
 * The fields of each record in a response: names and types from its zod schema, text from field-notes.ts.
 */
import type { z } from 'zod';
import { apiKeyRecord, createdApiKeyRecord } from '../../../runtime/core/resources/api-key.ts';
import { fileRecord } from '../../../runtime/core/resources/file.ts';
import { libraryRecord } from '../../../runtime/core/resources/library.ts';
import {
  libraryFileRecord,
  librarySessionRecord,
  libraryUploadRecord,
  revokedSessionsRecord,
} from '../../../runtime/core/resources/library-session.ts';
import {
  meRecord,
  organizationRecord,
  userRecord,
} from '../../../runtime/core/resources/organization.ts';
import { projectRecord } from '../../../runtime/core/resources/project.ts';
import { recipeRecord } from '../../../runtime/core/resources/recipe.ts';
import { signedUrlRecord, signingKeyRecord } from '../../../runtime/core/resources/signing-key.ts';
import { uploadRecord } from '../../../runtime/core/resources/upload.ts';
import { usageDay, usageHour, usageRecord } from '../../../runtime/core/resources/usage.ts';
import { watermarkPresetRecord } from '../../../runtime/core/resources/watermark-preset.ts';
import {
  webhookAttemptRecord,
  webhookBody,
  webhookDeliveryRecord,
} from '../../../runtime/core/resources/webhook-delivery.ts';
import { fieldNotes } from './field-notes.ts';
import { fieldsOf } from './json-type.ts';
import { code, table } from './markdown.ts';

const records = {
  organization: organizationRecord,
  project: projectRecord,
  'api key': apiKeyRecord,
  'created api key': createdApiKeyRecord.pick({ plaintext_secret: true }),
  'signing key': signingKeyRecord,
  'signed url': signedUrlRecord,
  upload: uploadRecord,
  file: fileRecord,
  'watermark preset': watermarkPresetRecord,
  library: libraryRecord,
  'library session': librarySessionRecord,
  'revoked sessions': revokedSessionsRecord,
  'library file': libraryFileRecord,
  'library upload': libraryUploadRecord,
  recipe: recipeRecord,
  usage: usageRecord,
  'usage hour': usageHour,
  'usage day': usageDay,
  'webhook body': webhookBody,
  'webhook delivery': webhookDeliveryRecord,
  'webhook attempt': webhookAttemptRecord,
  me: meRecord,
  user: userRecord,
} as const satisfies Record<string, z.ZodType>;

/** A note for every field of every record, and none for a field that does not exist. */
export type FieldNotes = {
  readonly [Name in keyof typeof records]: Readonly<
    Record<Exclude<keyof z.infer<(typeof records)[Name]>, 'created_at' | 'updated_at'>, string>
  > & { readonly created_at?: string };
};

const TIMES: Readonly<Record<string, string>> = {
  created_at: 'When it was created.',
  updated_at: 'When it last changed.',
};

export const recordTables: ReadonlyMap<string, () => string> = new Map(
  (Object.keys(records) as (keyof typeof records)[]).map((name) => [name, () => recordTable(name)]),
);

function recordTable(name: keyof typeof records): string {
  const notes: Readonly<Record<string, string | undefined>> = fieldNotes[name];
  const rows = fieldsOf(records[name], 'output').map((field) => [
    code(field.name),
    field.isRequired ? field.type : `${field.type}; may be absent`,
    notes[field.name] ?? TIMES[field.name] ?? '',
  ]);
  return table(['field', 'type', 'meaning'], rows);
}

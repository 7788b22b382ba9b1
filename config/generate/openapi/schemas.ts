/** The records of responses, by name, with notes on their fields and an example of each. */
import type { z } from 'zod';
import {
  acceptedRecord,
  accessRequestRecord,
} from '../../../runtime/core/resources/access-request.ts';
import {
  apiKeyRecord,
  createdApiKeyRecord,
  keyIntrospectionRecord,
} from '../../../runtime/core/resources/api-key.ts';
import { auditEntryRecord } from '../../../runtime/core/resources/audit-entry.ts';
import {
  fileRecord,
  moderationNoteRecord,
  movedFilesRecord,
} from '../../../runtime/core/resources/file.ts';
import {
  canceledSubscriptionRecord,
  providerEventRecord,
} from '../../../runtime/core/resources/inbound.ts';
import { incidentRecord, statusRecord } from '../../../runtime/core/resources/incident.ts';
import { libraryRecord } from '../../../runtime/core/resources/library.ts';
import {
  libraryFileRecord,
  librarySessionRecord,
  libraryUploadRecord,
  revokedSessionsRecord,
} from '../../../runtime/core/resources/library-session.ts';
import { meRecord, organizationRecord } from '../../../runtime/core/resources/organization.ts';
import { projectRecord, staffProjectRecord } from '../../../runtime/core/resources/project.ts';
import { recipeRecord } from '../../../runtime/core/resources/recipe.ts';
import { reconciledDayRecord } from '../../../runtime/core/resources/reconciliation.ts';
import {
  checkRecord,
  checkWithReviewsRecord,
} from '../../../runtime/core/resources/scanner-check.ts';
import { signedUrlRecord, signingKeyRecord } from '../../../runtime/core/resources/signing-key.ts';
import { uploadPartsRecord, uploadRecord } from '../../../runtime/core/resources/upload.ts';
import { usageRecord } from '../../../runtime/core/resources/usage.ts';
import { watermarkPresetRecord } from '../../../runtime/core/resources/watermark-preset.ts';
import { webhookDeliveryRecord } from '../../../runtime/core/resources/webhook-delivery.ts';
import { fieldNotes } from '../reference/field-notes.ts';
import type { Json } from './document.ts';
import { examples } from './examples.ts';
import { jsonSchema, withNotes } from './json-schema.ts';
import { countedEventsRecord, healthRecord, readinessRecord } from './probes.ts';

const records = {
  ReconciledDay: reconciledDayRecord,
  Accepted: acceptedRecord,
  AccessRequest: accessRequestRecord,
  AuditEntry: auditEntryRecord,
  Check: checkRecord,
  CheckWithReviews: checkWithReviewsRecord,
  Incident: incidentRecord,
  StaffProject: staffProjectRecord,
  Status: statusRecord,
  ApiKey: apiKeyRecord,
  CallingKey: keyIntrospectionRecord,
  CancelledSubscription: canceledSubscriptionRecord,
  CountedEvents: countedEventsRecord,
  CreatedApiKey: createdApiKeyRecord,
  File: fileRecord,
  Health: healthRecord,
  Library: libraryRecord,
  LibraryFile: libraryFileRecord,
  LibrarySession: librarySessionRecord,
  LibraryUpload: libraryUploadRecord,
  Me: meRecord,
  ModerationNote: moderationNoteRecord,
  MovedFiles: movedFilesRecord,
  Organization: organizationRecord,
  Project: projectRecord,
  Readiness: readinessRecord,
  Recipe: recipeRecord,
  RevokedLibrarySessions: revokedSessionsRecord,
  SignedUrl: signedUrlRecord,
  SigningKey: signingKeyRecord,
  TakenEvent: providerEventRecord,
  Upload: uploadRecord,
  UploadParts: uploadPartsRecord,
  Usage: usageRecord,
  WatermarkPreset: watermarkPresetRecord,
  WebhookDelivery: webhookDeliveryRecord,
} as const satisfies Record<string, z.ZodType>;

export type RecordName = keyof typeof records;

/** The reference's notes, for the records that have some. */
const notesOf: Partial<Record<RecordName, Readonly<Record<string, string | undefined>>>> = {
  ApiKey: fieldNotes['api key'],
  CallingKey: fieldNotes['api key'],
  CreatedApiKey: { ...fieldNotes['api key'], ...fieldNotes['created api key'] },
  File: fieldNotes.file,
  Library: fieldNotes.library,
  LibraryFile: fieldNotes['library file'],
  LibrarySession: fieldNotes['library session'],
  LibraryUpload: fieldNotes['library upload'],
  RevokedLibrarySessions: fieldNotes['revoked sessions'],
  Me: fieldNotes.me,
  Organization: fieldNotes.organization,
  Project: fieldNotes.project,
  StaffProject: {
    ...fieldNotes.project,
    nudity_auto_block: 'Whether files that the scanner flags for nudity are blocked at once.',
  },
  Recipe: fieldNotes.recipe,
  SignedUrl: fieldNotes['signed url'],
  SigningKey: fieldNotes['signing key'],
  Upload: fieldNotes.upload,
  Usage: fieldNotes.usage,
  WatermarkPreset: fieldNotes['watermark preset'],
  WebhookDelivery: fieldNotes['webhook delivery'],
};

const TIMES = { created_at: 'When it was created.', updated_at: 'When it last changed.' };

export function recordSchemas(): Json {
  const names = Object.keys(records) as RecordName[];
  return Object.fromEntries(names.map((name) => [name, recordSchema(name)]));
}

function recordSchema(name: RecordName): Json {
  const schema = withNotes(jsonSchema(records[name], 'output'), { ...TIMES, ...notesOf[name] });
  // An example that does not match its record stops the generator.
  return { ...schema, examples: [records[name].parse(examples[name])] };
}

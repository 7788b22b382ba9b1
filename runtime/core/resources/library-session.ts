/** A short-lived credential of one end user of the picker. Spec: Library session; Library sessions and the picker. */
import { z } from 'zod';
import {
  LIBRARY_FILES_LIMIT_DEFAULT,
  LIBRARY_FILES_LIMIT_MAX,
  LIBRARY_FILES_LIMIT_MIN,
  LIBRARY_SESSION_EXPIRES_SECONDS_DEFAULT,
  LIBRARY_SESSION_EXPIRES_SECONDS_MAX,
  LIBRARY_SESSION_EXPIRES_SECONDS_MIN,
  LIBRARY_SESSION_UPLOADS_DEFAULT,
  LIBRARY_SESSION_UPLOADS_MAX,
  LIBRARY_SESSION_UPLOADS_MIN,
  ORIGINAL_FILENAME_LENGTH_MAX,
  SUBJECT_LENGTH_MAX,
  SUBJECT_LENGTH_MIN,
  TITLE_LENGTH_MAX,
  UPLOAD_BYTES_MIN,
} from '../limits.ts';
import { libraryPermissions } from '../scopes.ts';
import { cleanText } from '../text.ts';
import { cutForm, folderForm, searchForm, subjectForm } from './forms.ts';
import { embedOrigin } from './library.ts';
import {
  contentType,
  expected,
  numberParameter,
  oneOf,
  pageQuery,
  plainText,
  requestBody,
  requestQuery,
  timestamp,
  wholeNumber,
} from './wire.ts';

/** Response of create: the token, the picker's address and what they allow. */
export const librarySessionRecord = z.object({
  session_id: z.string(),
  token: z.string(),
  embed_url: z.string(),
  expires_at: timestamp,
  library: z.string(),
  folder: z.string(),
  permissions: z.array(z.enum(libraryPermissions)),
  origin: z.string(),
  max_file_bytes: z.int(),
  max_uploads: z.int(),
});

/** A created session on the wire. */
export type LibrarySessionRecord = z.infer<typeof librarySessionRecord>;

const subject = z
  .string({
    error: expected(`a subject of ${SUBJECT_LENGTH_MIN} to ${SUBJECT_LENGTH_MAX} characters`),
  })
  .meta(subjectForm);

/**
 * Create. The action checks what has codes of its own: library_not_found, invalid_folder,
 * invalid_permissions (browse with browse_own), origin_not_allowed, invalid_subject.
 */
export const createLibrarySessionBody = requestBody({
  library: plainText('a library slug, or default'),
  folder: z
    .string({ error: expected('a folder path') })
    .meta(folderForm)
    .default(''),
  permissions: z
    .array(oneOf(libraryPermissions), {
      error: expected(`a list of ${libraryPermissions.join(', ')}`),
    })
    .min(1, { error: 'expected at least one permission' })
    .max(libraryPermissions.length, {
      error: `expected at most ${libraryPermissions.length} permissions`,
    })
    .transform((asked) => libraryPermissions.filter((permission) => asked.includes(permission))),
  origin: embedOrigin,
  subject,
  expires_in: wholeNumber({
    min: LIBRARY_SESSION_EXPIRES_SECONDS_MIN,
    max: LIBRARY_SESSION_EXPIRES_SECONDS_MAX,
  }).default(LIBRARY_SESSION_EXPIRES_SECONDS_DEFAULT),
  max_file_bytes: wholeNumber({ min: UPLOAD_BYTES_MIN }).optional(),
  max_uploads: wholeNumber({
    min: LIBRARY_SESSION_UPLOADS_MIN,
    max: LIBRARY_SESSION_UPLOADS_MAX,
  }).default(LIBRARY_SESSION_UPLOADS_DEFAULT),
  refresh_of: plainText('the token that is refreshed').optional(),
});

/** The requested session, with defaults. */
export type CreateLibrarySession = z.infer<typeof createLibrarySessionBody>;

/** Whether permissions exclude each other: browse with browse_own. */
export function hasExclusivePermissions(permissions: readonly string[]): boolean {
  return permissions.includes('browse') && permissions.includes('browse_own');
}

/** Ours: revoke all sessions of a project, or of one subject. */
export const revokeLibrarySessionsBody = requestBody({
  subject: subject.optional(),
}).optional();

/** Response of revoke: since when, and from when on sessions can be minted again. */
export const revokedSessionsRecord = z.object({ revoked_at: timestamp, mint_again_at: timestamp });

/** Query of the picker's list of files. */
export const listLibraryFilesQuery = requestQuery({
  search: z.string({ error: 'expected a text' }).meta(searchForm).optional(),
  ...pageQuery,
  limit: numberParameter(
    LIBRARY_FILES_LIMIT_MIN,
    LIBRARY_FILES_LIMIT_MAX,
    LIBRARY_FILES_LIMIT_DEFAULT,
  ),
});

/** A file as the picker shows it. */
export const libraryFileRecord = z.object({
  file_slug: z.string(),
  file_id: z.string(),
  revision: z.int(),
  width: z.int(),
  height: z.int(),
  title: z.string().nullable(),
  alt_text: z.string().nullable(),
  folder: z.string(),
  original_filename: z.string().nullable(),
  content_type: z.string(),
  size_bytes: z.int(),
  created_at: timestamp,
  url: z.string(),
  thumbnail_url: z.string(),
  /** '#rrggbb', and a ThumbHash in base64: the picker shows them until the thumbnail has loaded. */
  dominant_color: z.string(),
  thumb_hash: z.string().nullable(),
});

/** A picker's file on the wire. */
export type LibraryFileRecord = z.infer<typeof libraryFileRecord>;

/** Upload from the picker; the slug is always generated. */
export const createLibraryUploadBody = requestBody({
  content_type: contentType,
  size_bytes: wholeNumber({ min: UPLOAD_BYTES_MIN }),
  original_filename: cleanedText(ORIGINAL_FILENAME_LENGTH_MAX),
  title: cleanedText(TITLE_LENGTH_MAX),
});

/** The requested upload from the picker, with cleaned texts. */
export type CreateLibraryUpload = z.infer<typeof createLibraryUploadBody>;

/** An upload of the picker; `proxy` only in the create response, `file` once ready. */
export const libraryUploadRecord = z.object({
  upload_id: z.string(),
  status: z.string(),
  content_type: z.string(),
  size_bytes: z.int(),
  error_code: z.string().nullable(),
  expires_at: timestamp,
  ready_at: timestamp.nullable(),
  proxy: z.object({ put_url: z.string() }).optional(),
  file: libraryFileRecord.nullable(),
});

/** A picker's upload on the wire. */
export type LibraryUploadRecord = z.infer<typeof libraryUploadRecord>;

function cleanedText(max: number) {
  return z
    .string({ error: expected('a text, or null') })
    .meta(cutForm(max))
    .transform((text) => cleanText(text, max))
    .nullable()
    .default(null);
}

/** A published file, its descriptions and its place. Spec: File; Files. */
import { z } from 'zod';
import {
  ALT_TEXT_LENGTH_MAX,
  BULK_MOVE_FILES_MAX,
  BULK_MOVE_FILES_MIN,
  NOTE_LENGTH_MAX,
  TITLE_LENGTH_MAX,
} from '../limits.ts';
import { fileStatuses } from '../states.ts';
import { cleanText } from '../text.ts';
import { cutForm, folderForm } from './forms.ts';
import {
  boundedText,
  expected,
  fileSlug,
  isRecordValue,
  listOf,
  plainText,
  requestBody,
  times,
  timestamp,
} from './wire.ts';

/** A file; `location` and `taken_at` only with include=location. */
export const fileRecord = z.object({
  file_slug: z.string(),
  file_id: z.string(),
  status: z.enum(fileStatuses),
  revision: z.int(),
  width: z.int(),
  height: z.int(),
  url: z.string(),
  sha256: z.string(),
  title: z.string().nullable(),
  alt_text: z.string().nullable(),
  folder: z.string(),
  library: z.string(),
  original_filename: z.string().nullable(),
  location: z.object({ latitude: z.number(), longitude: z.number() }).nullable().optional(),
  taken_at: timestamp.nullable().optional(),
  content_type: z.string(),
  size_bytes: z.int(),
  /** '#rrggbb'. */
  dominant_color: z.string(),
  /** ThumbHash in base64. */
  thumb_hash: z.string().nullable(),
  ...times,
});

/** A file on the wire. */
export type FileRecord = z.infer<typeof fileRecord>;

/** Change; the action checks folder and library (invalid_folder, library_not_found). */
export const patchFileBody = requestBody({
  title: cleanedText(TITLE_LENGTH_MAX),
  alt_text: cleanedText(ALT_TEXT_LENGTH_MAX),
  folder: z
    .string({ error: expected('a folder path') })
    .meta(folderForm)
    .optional(),
  library: plainText('a library slug, or default').optional(),
});

/** The requested change, with cleaned texts; null clears. */
export type PatchFile = z.infer<typeof patchFileBody>;

const SLUGS = `a list of ${BULK_MOVE_FILES_MIN} to ${BULK_MOVE_FILES_MAX} file slugs`;

/** Bulk move; duplicates are ignored. */
export const moveFilesBody = requestBody({
  file_slugs: listOf(fileSlug, SLUGS, { min: BULK_MOVE_FILES_MIN, max: BULK_MOVE_FILES_MAX }),
  folder: z.string({ error: expected('a folder path, empty for the root') }).meta(folderForm),
  library: plainText('a library slug, or default').optional(),
});

/** The requested move. */
export type MoveFiles = z.infer<typeof moveFilesBody>;

/** Response of a move: where every requested slug ended up. */
export const movedFilesRecord = z.object({
  moved: z.array(z.object({ file_slug: z.string(), library: z.string(), folder: z.string() })),
  not_found: z.array(z.string()),
});

/** A move's response on the wire. */
export type MovedFilesRecord = z.infer<typeof movedFilesRecord>;

const NOTE_EMPTY = { error: 'expected a text that is not empty' };
const noteText = boundedText(NOTE_LENGTH_MAX)
  .min(1, NOTE_EMPTY)
  .refine((text) => text.trim() !== '', NOTE_EMPTY);

/** A moderation note; `body` is an alias of `note`: exactly one of them is sent. */
export const moderationNoteBody = requestBody({
  note: noteText.optional(),
  body: noteText.optional(),
})
  .refine((sent) => 'note' in sent || 'body' in sent, {
    path: ['note'],
    error: `required: a text of at most ${NOTE_LENGTH_MAX} characters`,
    when: isRecordValue,
  })
  .refine((sent) => sent.note === undefined || sent.body === undefined, {
    path: ['body'],
    error: 'body is another name of note; send only one of them',
    when: isRecordValue,
  })
  .transform(({ note, body = '' }) => ({ note: note ?? body }));

/** One note per project and file slug. */
export const moderationNoteRecord = z.object({
  project_slug: z.string(),
  file_slug: z.string(),
  note: z.string(),
  author: z.string(),
  ...times,
});

/** A note on the wire. */
export type ModerationNoteRecord = z.infer<typeof moderationNoteRecord>;

function cleanedText(max: number) {
  return z
    .string({ error: expected('a text, or null to clear it') })
    .meta(cutForm(max))
    .transform((text) => cleanText(text, max))
    .nullable()
    .optional();
}

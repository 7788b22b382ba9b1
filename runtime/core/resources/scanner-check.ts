/** What the automatic scanner found, and what staff decided. Spec: Staff, checks; Other state sets. */
import { z } from 'zod';
import { BLOCK_REASON_LENGTH_MAX, NOTE_LENGTH_MAX } from '../limits.ts';
import { parseFileSlug } from '../slug.ts';
import { checkStatuses, otherStateSets, reviewValues } from '../states.ts';
import { countCharacters, stripText } from '../text.ts';
import {
  boundedText,
  oneOf,
  pageQuery,
  plainText,
  requestBody,
  requestQuery,
  times,
  timestamp,
} from './wire.ts';

/** A check of one revision of a file. */
export const checkRecord = z.object({
  check_id: z.string(),
  project_slug: z.string(),
  file_id: z.string(),
  file_slug: z.string(),
  revision: z.int(),
  status: z.enum(checkStatuses),
  review: z.enum(reviewValues),
  flags: z.array(z.string()),
  scores: z.record(z.string(), z.number()),
  scanned_at: timestamp.nullable(),
  ...times,
});

/** A check on the wire. */
export type CheckRecord = z.infer<typeof checkRecord>;

/** A decision on a flagged check. */
const reviewRecord = z.object({
  review_id: z.string(),
  decision: z.enum(otherStateSets.review),
  note: z.string().nullable(),
  reviewer: z.string(),
  created_at: timestamp,
});

/** A decision on the wire. */
export type ReviewRecord = z.infer<typeof reviewRecord>;

/** A check with its reviews, newest first. */
export const checkWithReviewsRecord = checkRecord.extend({ reviews: z.array(reviewRecord) });

/** An empty note counts as none. */
const note = boundedText(NOTE_LENGTH_MAX)
  .transform((text) => (text.trim() === '' ? null : text))
  .optional();

/** Review of a flagged check. */
export const reviewCheckBody = requestBody({ decision: oneOf(otherStateSets.review), note });

const REASON = `a reason of 1 to ${BLOCK_REASON_LENGTH_MAX} characters`;

/** Staff block; the reason is checked after stripping. */
export const blockFileBody = requestBody({
  reason: plainText(REASON)
    .meta({ minLength: 1, maxLength: BLOCK_REASON_LENGTH_MAX })
    .transform((text) => stripText(text).trim())
    .refine((text) => text !== '' && countCharacters(text) <= BLOCK_REASON_LENGTH_MAX, {
      error: `expected ${REASON}, not counting control and direction characters`,
    }),
});

/** Staff unblock. */
export const unblockFileBody = requestBody({ note }).optional();

/** Query of the list of checks. */
export const listChecksQuery = requestQuery({
  status: oneOf(checkStatuses).optional(),
  review: oneOf(reviewValues).optional(),
  flag: plainText('a flag').optional(),
  project_slug: plainText('a project slug').optional(),
  ...pageQuery,
});

/** Query of a check's preview. */
export const checkImageQuery = requestQuery({ size: oneOf(['thumb', 'large']).default('large') });

/** Query of the list of moderation notes. A text that is no valid slug has none. */
export const listModerationNotesQuery = requestQuery({
  project_slug: plainText('a project slug').optional(),
  file_slug: plainText('a file slug')
    .transform((text) => parseFileSlug(text) ?? text)
    .optional(),
  ...pageQuery,
});

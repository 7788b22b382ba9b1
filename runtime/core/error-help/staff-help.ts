/** Help with what staff do: checks, previews and incidents. Spec: Staff. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const staffHelp = {
  content_missing: {
    cause:
      'The check is of a revision whose bytes are gone: the file was replaced or deleted since.',
    steps: ['Look at the check of the current revision, where there is one.'],
  },
  check_not_flagged: {
    cause: 'The scanner did not flag this check, so that there is nothing to decide.',
    steps: ['To stop a file all the same, block the file itself; to serve it again, unblock it.'],
  },
  incident_automatic: {
    cause:
      'The incident was opened by failed samples, and is closed by good ones. It is not edited by hand.',
    steps: ['Open a manual incident for what people should read.'],
  },
  preview_too_large: {
    cause:
      'The source of the check is above 64 MiB, which is more than a preview is rendered from.',
    steps: ['Open the original instead.'],
    details: { max_bytes: 67_108_864 },
  },
  preview_unavailable: {
    cause: 'The scanned content cannot be drawn as a preview.',
    steps: ['Read `details.reason`.', 'Open the original instead.'],
    details: { reason: 'decode_failed' },
  },
  preview_busy: {
    cause: 'A process renders one preview at a time, and 32 are waiting already.',
    steps: [
      'Wait as many seconds as `Retry-After` and `details.retry_after_seconds` say, then ask again.',
    ],
    details: { retry_after_seconds: 2 },
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;

/** Help with the tasks of staff: checks, previews and incidents. Spec: Staff. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const staffHelp = {
  content_missing: {
    cause:
      'The bytes of the checked revision are gone: the file has been replaced or deleted since.',
    steps: ['Look at the check of the current revision, if there is one.'],
  },
  check_not_flagged: {
    cause: 'The scanner did not flag this check, so there is nothing to decide.',
    steps: [
      'To stop delivery of the file anyway, block the file itself; to serve it again, unblock it.',
    ],
  },
  incident_automatic: {
    cause:
      'Failed samples opened the incident, and successful ones close it. It cannot be edited manually.',
    steps: ['To publish a message, open a manual incident.'],
  },
  preview_too_large: {
    cause: 'The source of the check is larger than 64 MiB, the maximum for a preview.',
    steps: ['Open the original instead.'],
    details: { max_bytes: 67_108_864 },
  },
  preview_unavailable: {
    cause: 'The scanned content cannot be rendered as a preview.',
    steps: ['Read `details.reason`.', 'Open the original instead.'],
    details: { reason: 'decode_failed' },
  },
  preview_busy: {
    cause: 'A process renders one preview at a time, and 32 are already waiting.',
    steps: [
      'Wait the number of seconds in `Retry-After` and `details.retry_after_seconds`, then try again.',
    ],
    details: { retry_after_seconds: 2 },
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;

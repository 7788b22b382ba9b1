/** What a project used and was charged for. Spec: Usage record; Usage; Metering (usage query). */
import { z } from 'zod';
import { DAY_MS } from '../durations.ts';
import { type InputIssue, wrongInput } from '../input-issue.ts';
import { ASKED_TIME_EXPECTED, EARLIEST_INSTANT, parseAskedTime, parseDay } from '../instant.ts';
import { USAGE_RANGE_DAYS_DEFAULT, USAGE_RANGE_DAYS_MAX } from '../limits.ts';
import { askedTimeForm } from './forms.ts';
import { requestQuery, timestamp } from './wire.ts';

const counters = {
  requests: z.int(),
  bytes: z.int(),
  transforms: z.int(),
  credits: z.int(),
};

/** One UTC hour. */
export const usageHour = z.object({
  window_start: timestamp,
  ...counters,
  computed_at: timestamp,
});

/**
 * One UTC day; finalized_at is null until all its hours were final at a charge, and stays when the
 * day is charged again.
 */
export const usageDay = z.object({
  day: z.iso.date(),
  ...counters,
  charged_credits: z.int(),
  hours_closed: z.int(),
  finalized_at: timestamp.nullable(),
});

/** Usage over a half-open range. */
export const usageRecord = z.object({
  project_slug: z.string(),
  from: timestamp,
  to: timestamp,
  range_capped: z.boolean(),
  storage: z.object({ file_count: z.int(), storage_bytes: z.int() }),
  hourly: z.array(usageHour),
  daily: z.array(usageDay),
  credit_balance: z.int(),
  reconciled_through: timestamp,
});

/** Usage on the wire. */
export type UsageRecord = z.infer<typeof usageRecord>;

const time = z.string({ error: 'expected a date or timestamp' }).meta(askedTimeForm);

/** Query: ISO 8601 dates or timestamps. */
export const usageQuery = requestQuery({
  from: time.optional(),
  to: time.optional(),
});

/** The range that a query means: [from, to). */
export type UsageRange = { from: Date; to: Date; range_capped: boolean };

/**
 * Resolves the range: by default the last 30 days before now; a date-only `to` includes that day; a
 * range over 90 days is shortened at its beginning. Throws invalid_request for a time that is
 * invalid or outside the years 1 to 9998, and for from after to.
 */
export function resolveUsageRange(query: z.infer<typeof usageQuery>, now: Date): UsageRange {
  const to = query.to === undefined ? now : parseAskedTime(query.to, DAY_MS);
  const from = query.from === undefined ? defaultFrom(to ?? now, now) : parseAskedTime(query.from);
  if (from === undefined || to === undefined) throw wrongInput(...unreadable({ from, to }));
  if (from > to || isReversed(query)) {
    throw wrongInput({ path: 'from', message: 'expected a time before to' });
  }
  const earliest = new Date(to.getTime() - USAGE_RANGE_DAYS_MAX * DAY_MS);
  return from < earliest
    ? { from: earliest, to, range_capped: true }
    : { from, to, range_capped: false };
}

/**
 * Two dates in reverse order: as `to` includes its whole day, comparing the times may not show it.
 */
function isReversed({ from = '', to = '' }: z.infer<typeof usageQuery>): boolean {
  return parseDay(from) !== undefined && parseDay(to) !== undefined && from > to;
}

/** Thirty days before now; before `to`, if that is even earlier. */
function defaultFrom(to: Date, now: Date): Date {
  const before = (time: Date) => time.getTime() - USAGE_RANGE_DAYS_DEFAULT * DAY_MS;
  const from = before(now) < to.getTime() ? before(now) : before(to);
  return new Date(Math.max(from, EARLIEST_INSTANT.getTime()));
}

function unreadable(times: Readonly<Record<string, Date | undefined>>): InputIssue[] {
  const message = `expected ${ASKED_TIME_EXPECTED}`;
  const names = Object.keys(times).filter((name) => times[name] === undefined);
  return names.map((path) => ({ path, message }));
}

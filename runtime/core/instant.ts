/**
 * Times as callers write them: ISO 8601 with an offset, the seconds optional, limited to years that every part of the
 * service supports. Spec: Usage record (timestamps); Usage.
 */
import { z } from 'zod';

/** What an error message asks for. */
export const INSTANT_EXPECTED =
  'an ISO 8601 timestamp such as 2026-11-20T08:00:00Z, of a year from 1 to 9998';

/** The same for a query parameter, which also accepts a day. */
export const ASKED_TIME_EXPECTED = `a date, or ${INSTANT_EXPECTED}`;

/** The first accepted instant: for earlier ones PostgreSQL and ISO 8601 count years differently. */
export const EARLIEST_INSTANT = new Date('0001-01-01T00:00:00.000Z');

/**
 * The last accepted millisecond: a day can be added, and the year still prints with four digits.
 */
export const LATEST_EPOCH_MS = Date.parse('9998-12-31T23:59:59.999Z');

/** Parses a timestamp; undefined when it is malformed or its year is outside 1 to 9998 (UTC). */
export function parseInstant(text: string): Date | undefined {
  return INSTANT.safeParse(text).success ? boundedInstant(text) : undefined;
}

/**
 * Midnight UTC of a date (YYYY-MM-DD); undefined when it is malformed or its year is out of bounds.
 */
export function parseDay(text: string): Date | undefined {
  return DAY.safeParse(text).success ? boundedInstant(text) : undefined;
}

/** A timestamp from a query, or a day: its midnight UTC, plus `dayAddsMs`. */
export function parseAskedTime(text: string, dayAddsMs = 0): Date | undefined {
  const day = parseDay(text);
  if (day !== undefined) return new Date(day.getTime() + dayAddsMs);
  // In a query a + means a space, so an offset arrives with a space.
  return parseInstant(text.replace(' ', '+'));
}

const DAY = z.iso.date();
const INSTANT = z.union([
  z.iso.datetime({ offset: true }),
  z.iso.datetime({ offset: true, precision: -1 }),
]);
function boundedInstant(text: string): Date | undefined {
  const instant = new Date(text);
  return instant >= EARLIEST_INSTANT && instant.getTime() <= LATEST_EPOCH_MS ? instant : undefined;
}

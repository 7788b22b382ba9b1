/**
 * Times as callers write them: ISO 8601 with an offset, the seconds optional, of years that every
 * part of the service can hold. Spec: Usage record (timestamps); Usage.
 */
import { z } from 'zod';

/** What an error asks for. */
export const INSTANT_EXPECTED =
  'an ISO 8601 timestamp such as 2026-11-20T08:00:00Z, of a year from 1 to 9998';

/** The same of a query, where a day will do. */
export const ASKED_TIME_EXPECTED = `a date, or ${INSTANT_EXPECTED}`;

/** The first instant that is taken: before it PostgreSQL and ISO 8601 count years differently. */
export const EARLIEST_INSTANT = new Date('0001-01-01T00:00:00.000Z');

/** The last millisecond of the epoch that is taken: a day can be added, and four digits still print it. */
export const LATEST_EPOCH_MS = Date.parse('9998-12-31T23:59:59.999Z');

/** A timestamp; undefined where it is none, or of a year outside 1 to 9998 (UTC). */
export function parseInstant(text: string): Date | undefined {
  return INSTANT.safeParse(text).success ? boundedInstant(text) : undefined;
}

/** Midnight UTC of a date (YYYY-MM-DD); undefined where it is none, or of a year out of bounds. */
export function parseDay(text: string): Date | undefined {
  return DAY.safeParse(text).success ? boundedInstant(text) : undefined;
}

/** A timestamp as it stands in a query, or a day: its midnight UTC, which `dayAddsMs` moves. */
export function parseAskedTime(text: string, dayAddsMs = 0): Date | undefined {
  const day = parseDay(text);
  if (day !== undefined) return new Date(day.getTime() + dayAddsMs);
  // In a query a + is a space, so an offset arrives with one.
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

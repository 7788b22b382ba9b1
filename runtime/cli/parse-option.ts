/** Parsers of option values: a value that they refuse ends the command as misused. */
import { InvalidArgumentError } from 'commander';
import { parseDay, parseInstant } from '../core/instant.ts';

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a whole number from 0 (any free one) to 65535.');
}

/** An empty value, from an unset variable, would mean the current folder. */
export function parseFolder(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('The value is empty. Name a folder.');
}

/**
 * An empty subject would sign nobody in, and only the API would say so. Without control characters,
 * as it is sent in a header.
 */
export function parseSubject(text: string): string {
  const name = text.trim();
  if (name !== '' && !/\p{Cc}/u.test(name)) return name;
  throw new InvalidArgumentError('A subject is the name of a person, such as alice.');
}

/** A date means its start in UTC. A time must name its zone, because machines differ in theirs. */
export function parseTime(text: string): Date {
  const time = parseDay(text) ?? parseInstant(text);
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    'Write a day in UTC, or ISO 8601 with its zone, such as 2026-11-20T00:20:00Z.',
  );
}

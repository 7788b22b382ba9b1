/**
 * The building blocks of records and request bodies. An error message says what was expected, so that it reads well
 * after the path of the field. Spec: Resources and their fields; Conventions.
 */
import { z } from 'zod';
import { ASKED_TIME_EXPECTED, INSTANT_EXPECTED, parseAskedTime, parseInstant } from '../instant.ts';
import { isRecord } from '../json.ts';
import {
  CURSOR_LENGTH_MAX,
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
  LIST_LIMIT_MIN,
  NAME_LENGTH_MAX,
} from '../limits.ts';
import { parseFileSlug } from '../slug.ts';
import { countCharacters, hasUnsafeCharacters, isStorable, UNSAFE_CHARACTERS } from '../text.ts';
import { askedTimeForm, instantForm, STORABLE_PATTERN } from './forms.ts';

/** An error that says what was expected, or, if the field is missing, that it is required. */
export function expected(what: string): (issue: { input?: unknown }) => string {
  return (issue) => (issue.input === undefined ? `required: ${what}` : `expected ${what}`);
}

/**
 * A body of exactly these fields; others are refused by name. Spec: Conventions (unknown fields).
 */
export function requestBody<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  const object = known === '' ? 'an empty JSON object' : `a JSON object with ${known}`;
  const mistyped = expected(object);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown field; ${known === '' ? 'no field is known' : `known fields: ${known}`}`
        : mistyped(issue),
  });
}

/**
 * Lets a rule about several fields run even if single fields are invalid, so that one response
 * names all faults.
 */
export function isRecordValue({ value }: { value: unknown }): boolean {
  return isRecord(value);
}

/** A query of exactly these parameters; others are refused by name. */
export function requestQuery<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown parameter; known parameters: ${known}`
        : `expected no parameters but ${known}`,
  });
}

/** ISO 8601, UTC, with milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** When a row was created and last changed; on every record. */
export const times = { created_at: timestamp, updated_at: timestamp };

/** An instant that a caller sends: any offset, any precision. */
export const sentTimestamp = z
  .string({ error: expected(INSTANT_EXPECTED) })
  .meta(instantForm)
  .transform((text, context) => parsed(context, parseInstant(text), INSTANT_EXPECTED));

/** An instant in a query, or a day, which begins at midnight UTC. */
export const askedTime = z
  .string({ error: expected(ASKED_TIME_EXPECTED) })
  .meta(askedTimeForm)
  .transform((text, context) => parsed(context, parseAskedTime(text), ASKED_TIME_EXPECTED));

/** A text as it was sent, for the database or for a comparison; `what` describes it in errors. */
export function plainText(what: string) {
  return z
    .string({ error: expected(what) })
    .refine(isStorable, { error: `expected ${what}; U+0000 and lone surrogates cannot be stored` })
    .meta({ pattern: STORABLE_PATTERN });
}

/** A media type, which is case-insensitive; the action decides which ones are accepted. */
export const contentType = plainText('a content type such as image/jpeg').toLowerCase();

/** A safe text with a character that is not removed. */
export const NAME_PATTERN = `^ *[^\\s${UNSAFE_CHARACTERS}][^${UNSAFE_CHARACTERS}]*$`;

/** A name that people choose: trimmed, 1 to `max` characters, without control characters. */
export function nameText(max: number = NAME_LENGTH_MAX) {
  const what = `a text of 1 to ${max} characters without control characters`;
  return z
    .string({ error: expected(what) })
    .trim()
    .refine((text) => text !== '' && countCharacters(text) <= max && !hasUnsafeCharacters(text), {
      error: `expected ${what}`,
    })
    .meta({
      minLength: 1,
      maxLength: max,
      pattern: NAME_PATTERN,
    });
}

/** A text of at most `max` characters, unchanged. */
export function boundedText(max: number, or: OrNull = '') {
  const bounded = `a text of at most ${max} characters${or}`;
  return plainText(bounded)
    .refine((text) => countCharacters(text) <= max, { error: `expected ${bounded}` })
    .meta({ maxLength: max, pattern: STORABLE_PATTERN });
}

/** What a message adds if null is accepted too. */
export type OrNull = '' | ', or null';

type Range = { min: number; max?: number };

/** A whole number from `min` to `max`. */
export function wholeNumber({ min, max = Number.MAX_SAFE_INTEGER }: Range, or: OrNull = '') {
  const isOpen = max === Number.MAX_SAFE_INTEGER;
  const usual = expected(
    `a whole number ${isOpen ? `of at least ${min}` : `from ${min} to ${max}`}${or}`,
  );
  const error = (issue: { code?: string; input?: unknown }) =>
    isOpen && issue.code === 'too_big'
      ? `expected a whole number of at most ${max}${or}`
      : usual(issue);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/**
 * An object or a list of at most `max` entries. They are counted before any is checked, because
 * checking a thousand may be expensive.
 */
export function atMost<Schema extends z.ZodType>(
  max: number,
  schema: Schema,
  { error }: { error: string },
) {
  return z.preprocess((value, context) => {
    const isLong = value instanceof Object && Object.keys(value).length > max;
    if (!isLong) return value;
    context.issues.push({ code: 'custom', message: error, input: value });
    return z.NEVER;
  }, schema);
}

/** A list without repetitions; `what` describes it, with its bounds. */
export function listOf<Item extends z.ZodType>(
  item: Item,
  what: string,
  { min = 0, max }: { min?: number; max: number },
) {
  const error = expected(what);
  const short = z.array(item, { error }).max(max);
  const list = min === 0 ? short : short.min(min, { error });
  const unique = list.transform((items) => [...new Set(items)]);
  return atMost(max, unique, { error: `expected ${what}` });
}

/** One of these words. */
export function oneOf<const Words extends readonly string[]>(words: Words, or: OrNull = '') {
  return z.enum(words, { error: expected(`one of ${words.join(', ')}${or}`) });
}

/** true or false. */
export const trueOrFalse = z.boolean({ error: expected('true or false') });

const FILE_SLUG =
  'a slug: a letter or digit, then up to 127 letters, digits, dots, underscores or hyphens';

/** A file slug, lower-cased. */
export const fileSlug = z
  .string({ error: expected(FILE_SLUG) })
  .meta({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' })
  .transform((text, context) => parsed(context, parseFileSlug(text), FILE_SLUG));

/** The value that a parser returned, or an issue that says what was expected. */
export function parsed<Value>(
  context: z.core.$RefinementCtx,
  value: Value | undefined,
  what: string,
): Value {
  if (value !== undefined) return value;
  context.issues.push({ code: 'custom', message: `expected ${what}`, input: context.value });
  return z.NEVER;
}

/** A query parameter that holds a whole number. */
export function numberParameter(min: number, max: number, fallback: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^[0-9]{1,9}$/, { error })
    .meta({ type: 'integer', minimum: min, maximum: max })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .default(fallback);
}

/** A query parameter that is true or false. */
export const flagParameter = z
  .enum(['true', 'false'], { error: 'expected true or false' })
  .transform((text) => text === 'true');

/** The query of a list: limit 1..100 (default 50) and cursor. Spec: Conventions. */
export const pageQuery = {
  limit: numberParameter(LIST_LIMIT_MIN, LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  cursor: z
    .string({ error: 'expected the next_cursor of the previous page' })
    .meta({ minLength: 1, maxLength: CURSOR_LENGTH_MAX })
    .optional(),
};

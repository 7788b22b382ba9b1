/**
 * The types of configuration variables, each a zod schema from text whose message completes the sentence "expected …".
 * White space around a value, such as the line break at the end of a file, is ignored.
 */
import { isIP } from 'node:net';
import { z } from 'zod';

function written() {
  return z.string().trim();
}

/** Any text of at least one character. */
export function text() {
  return written().min(1, 'a text');
}

/** What documents print, or printed once, in place of a secret: everybody knows it. */
const EXAMPLE_SECRET = /^a-long-random-text-of-|^<.*>$/;
/** A command that no shell has run, as in a file that is not a script. */
const COMMAND = /\$\(openssl /;
const OUTPUT_EXPECTED = 'what the command prints: let a shell run it';

/**
 * White space around a secret is refused, not removed: the other side may have it as part of the
 * secret.
 */
export function secret(charactersMin = 16) {
  return z
    .string()
    .min(charactersMin, `a secret of at least ${charactersMin} characters`)
    .refine((value) => value === value.trim(), 'a secret without white space around it')
    .refine((value) => !COMMAND.test(value), OUTPUT_EXPECTED)
    .refine((value) => !EXAMPLE_SECRET.test(value), 'the secret itself, not an example');
}

export function wholeNumber(min: number, max: number) {
  const expected = `a whole number from ${min} to ${max}`;
  return written()
    .regex(/^\d{1,16}$/, { abort: true, error: expected })
    .transform(Number)
    .refine((value) => value >= min && value <= max, expected);
}

export function port() {
  return wholeNumber(1, 65_535);
}

/** 0: any free port. */
export function listenPort() {
  return wholeNumber(0, 65_535);
}

export function bytes() {
  return wholeNumber(1, Number.MAX_SAFE_INTEGER);
}

export function choice<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return written().pipe(z.enum(words, `one of ${words.join(', ')}`));
}

export function onOff() {
  return choice('enabled', 'disabled');
}

export function url(...protocols: [string, ...string[]]) {
  const expected = `a URL that begins with ${protocols.map((name) => `${name}://`).join(' or ')}`;
  return written().refine((value) => {
    const parsed = URL.parse(value);
    return parsed !== null && protocols.includes(parsed.protocol.slice(0, -1));
  }, expected);
}

/**
 * Scheme, host and port, without a path; printed as browsers do, without a trailing slash and
 * without the scheme's default port.
 */
export function origin() {
  return written()
    .refine(isOrigin, 'an origin: http(s)://host or http(s)://host:port, without a path')
    .transform((value) => new URL(value).origin);
}

function isOrigin(value: string): boolean {
  if (!/^https?:\/\/[^\s/?#@\\%]*[^\s/?#@\\%:]\/?$/i.test(value)) return false;
  return /^([a-z0-9._-]+|\[[0-9a-f:]+\])$/.test(URL.parse(value)?.hostname ?? '');
}

export function hostname() {
  const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
  const shape = new RegExp(`^${label}(?:\\.${label})*$`);
  return written().toLowerCase().regex(shape, 'a host name without scheme, port or path');
}

/** AWS's rule; some storages also refuse a dash beside a dot, and report that themselves. */
export const BUCKET_NAME = {
  expected: 'a bucket name: 3 to 63 of a-z, 0-9, dot, dash, without two dots in a row',
  pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  gap: /[.][.]/,
};

export function bucketName() {
  const { expected, pattern, gap } = BUCKET_NAME;
  return written()
    .regex(pattern, expected)
    .refine((value) => !gap.test(value), expected);
}

/** Items between commas; spaces around them and repeated items are ignored. */
export function list<Item extends z.ZodType<unknown, string>>(item: Item) {
  return z
    .string()
    .transform((value) => value.split(',').map((part) => part.trim()))
    .transform((parts) => [...new Set(parts)].filter((part) => part !== ''))
    .pipe(z.array(item));
}

export function addressRange() {
  return z.string().refine(isAddressRange, 'a comma list of IP addresses or ranges');
}

/** Accepts what address comparison accepts; a range that covers every address is refused. */
export function isAddressRange(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0);
  return rest.length === 0 && most > 0 && isRange && Number(bits ?? 1) <= most;
}

const KEY_BYTES = 32;
const KEY_SHAPE = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;
const KEYS_EXPECTED = `a comma list of id:base64(${KEY_BYTES} bytes), each id once`;
/** Keys that everybody knows: the examples that our documents printed once, and nothing but zeros. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'qL5Ks2Cn1pYwO8uTgVxZ0rHdJ3mFbNeA7iQ6tSyWvXk=',
  'Zb3Qe9Xw7LkR1uMvT5yHsA8dC2fGjN6pO4iUq0WnKxE=',
  Buffer.alloc(KEY_BYTES).toString('base64'),
]);

type KnownKeys = 'refused' | 'may only open';

/**
 * `id:base64(32 bytes)`, between commas: the first key is used, the others are still accepted. A key that everybody
 * knows may be among the others if they only open what it once sealed.
 */
export function namedKeys(known: KnownKeys = 'refused') {
  const key = z
    .string()
    .refine((value) => !COMMAND.test(value), { abort: true, error: OUTPUT_EXPECTED })
    .regex(KEY_SHAPE, { abort: true, error: KEYS_EXPECTED })
    .transform((value) => {
      const [, id = '', encoded = ''] = KEY_SHAPE.exec(value) ?? [];
      return { id, key: new Uint8Array(Buffer.from(encoded, 'base64')) };
    });
  return list(key)
    .refine((keys) => keys.length > 0, KEYS_EXPECTED)
    .refine((keys) => !(known === 'refused' ? keys : keys.slice(0, 1)).some(isKnown), {
      error: KNOWN_REFUSED[known],
    })
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, KEYS_EXPECTED);
}

const KNOWN_REFUSED = {
  refused: 'random keys of your own, not an example',
  'may only open':
    'a random key of your own as the first, not an example; others are still accepted behind it',
};

/** Printed again, because the last character of base64 may be written in several ways. */
function isKnown({ key }: { key: Uint8Array }): boolean {
  return KNOWN_KEYS.has(Buffer.from(key).toString('base64'));
}

const PAIRS_EXPECTED = 'a comma list of name=value, each name once';

/** `name=value` between commas. */
export function pairs() {
  const pair = z
    .string()
    .regex(/^[^=\s]+=[^=\s]+$/, { abort: true, error: PAIRS_EXPECTED })
    .transform((value): [string, string] => [
      value.slice(0, value.indexOf('=')),
      value.slice(value.indexOf('=') + 1),
    ]);
  return list(pair)
    .refine((found) => new Set(found.map(([name]) => name)).size === found.length, PAIRS_EXPECTED)
    .transform((found): Record<string, string> => Object.fromEntries(found));
}

const SHARES_EXPECTED =
  'a comma list of flag=number, flags of a-z, 0-9 and _, each number from 0 to 1';

/** The names must look like scanner flags: a share under any other name would have no effect. */
export function shares() {
  const share = z.number(SHARES_EXPECTED).min(0, SHARES_EXPECTED).max(1, SHARES_EXPECTED);
  return pairs()
    .refine((found) => Object.keys(found).every((name) => /^[a-z][a-z0-9_]*$/.test(name)), {
      abort: true,
      error: SHARES_EXPECTED,
    })
    .transform((found) => Object.entries(found).map(([name, value]) => [name, Number(value)]))
    .pipe(z.array(z.tuple([z.string(), share])))
    .transform((found): Record<string, number> => Object.fromEntries(found));
}

/**
 * Opaque ids: a prefix, an underscore and a UUIDv7 in lower-case Crockford base 32, so that they sort by time and each
 * is also a legal file slug. Spec: Resources and their fields.
 */
import { randomBytes } from 'node:crypto';

/** Creates an id of this kind for the instant `atMs` (milliseconds since the epoch). */
export function newId(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${printBase32(uuidv7(atMs))}`;
}

/** The prefix of each kind of id: first those of the specification, then ours. */
export const idPrefixes = {
  org: 'organization',
  key: 'API key',
  upl: 'upload session',
  file: 'file',
  wm: 'watermark preset',
  rcp: 'recipe',
  prj: 'project',
  kid: 'signing key',
  lib: 'library',
  ses: 'library session',
  usr: 'user',
  chk: 'scanner check',
  rvw: 'review of a check',
  inc: 'incident',
  acr: 'access request',
  tst: 'test of a webhook',
  spl: 'usage spool',
} as const satisfies Record<string, string>;

export type IdPrefix = keyof typeof idPrefixes;

/** Whether `text` is an id of this kind, in the one spelling that `newId` prints. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && BODY.test(text.slice(prefix.length + 1));
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CHARACTERS = 26;
/** 26 characters hold 130 bits, so the first one is at most 7. */
const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const MS_MAX = 2 ** 48 - 1;

function uuidv7(atMs: number): bigint {
  if (!Number.isInteger(atMs) || atMs < 0 || atMs > MS_MAX) {
    throw new RangeError(`not a time in milliseconds: ${atMs}`);
  }
  const random = BigInt(`0x${randomBytes(10).toString('hex')}`);
  const randomA = random >> 68n;
  const randomB = random & ((1n << 62n) - 1n);
  return (BigInt(atMs) << 80n) | (7n << 76n) | (randomA << 64n) | (2n << 62n) | randomB;
}

function printBase32(value: bigint): string {
  let text = '';
  for (let rest = value; text.length < CHARACTERS; rest >>= 5n) {
    text = ALPHABET.charAt(Number(rest & 31n)) + text;
  }
  return text;
}

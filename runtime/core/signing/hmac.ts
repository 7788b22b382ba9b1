// The primitives under every credential that we sign: one MAC, one comparison, one key derivation. Spec:
// Authentication, Credentials. Each kind of token signs its own prefix and has its own derived key, so that no kind is
// ever accepted as another.
import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { oncePerObject } from '../once-per-object.ts';

const DERIVED_KEY_BYTES = 32;

/** A named secret of a rotating list: the first one signs, every one verifies. */
export type NamedKey = { readonly id: string; readonly key: Uint8Array };

/** HMAC-SHA256 over the concatenated parts. An empty key is a fault of the caller. */
export function hmac(key: Uint8Array | string, ...parts: readonly (Uint8Array | string)[]): Buffer {
  if (key.length === 0) throw new TypeError('the key of a signature is empty');
  const mac = createHmac('sha256', typeof key === 'string' ? key : keyObjectOf(key));
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/**
 * For bytes that never change again. Given raw bytes, Node inspects them on each call, which takes
 * ten times as long.
 */
export const keyObjectOf: (bytes: Uint8Array) => KeyObject = oncePerObject((bytes) =>
  createSecretKey(bytes),
);

/**
 * Whether two secret texts are equal, in constant time. Both are hashed first, so texts of any
 * length can be compared. Texts are compared, never decoded bytes: a signature has exactly one
 * spelling.
 */
export function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

/** Whether any candidate equals the expected secret; all candidates are compared. */
export function isAnySecret(candidates: readonly string[], expected: string): boolean {
  let found = false;
  for (const candidate of candidates) found = isSameSecret(candidate, expected) || found;
  return found;
}

/** A key for one purpose (`upl1`, `embed1`, `ls1`, `cur1`, …): HKDF-SHA256, 32 bytes. */
export function deriveKey(master: Uint8Array, purpose: string): Buffer {
  if (master.length === 0) throw new TypeError('the master of a derived key is empty');
  return Buffer.from(
    hkdfSync('sha256', keyObjectOf(master), '', `tintype/${purpose}`, DERIVED_KEY_BYTES),
  );
}

/**
 * Fields joined by a separator, such that two different lists never give the same text; undefined
 * when a field contains the separator.
 */
export function joinFields(separator: string, fields: readonly string[]): string | undefined {
  return fields.some((field) => field.includes(separator)) ? undefined : fields.join(separator);
}

/** base64url HMAC over joined fields; throws when a field contains the separator. */
export function signFields(key: Uint8Array, separator: string, fields: readonly string[]): string {
  const text = joinFields(separator, fields);
  if (text === undefined) throw new TypeError('a signed field holds the separator');
  return hmac(key, text).toString('base64url');
}

/** Whether `sig` is the signature of these fields under any of the keys. */
export function verifyFields(
  keys: readonly Uint8Array[],
  separator: string,
  { fields, sig }: { fields: readonly string[]; sig: string },
): boolean {
  if (joinFields(separator, fields) === undefined) return false;
  const expected = keys.map((key) => signFields(key, separator, fields));
  return isAnySecret(expected, sig);
}

/** Unix seconds as printed in a URL: at most 12 digits, without leading zeros. */
export function parseUnixSeconds(text: string): number | undefined {
  return /^(?:0|[1-9][0-9]{0,11})$/.test(text) ? Number(text) : undefined;
}

/** The key with this id. Ids are public. */
export function findKey(keys: readonly NamedKey[], id: string): Uint8Array | undefined {
  return keys.find((key) => key.id === id)?.key;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

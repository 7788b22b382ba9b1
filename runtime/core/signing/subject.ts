// The stored form of an end user's subject: a keyed pseudonym per key, which cannot be reversed without the keys and
// differs between projects. Spec: Library session (subject); Files (uploader).
import { hmac } from './hmac.ts';

const PREFIX = 'sub1';

/** The pseudonym under the first key is stored; lookups use those under all keys. */
export function pseudonymsOf(
  keys: readonly Uint8Array[],
  { project_id, subject }: { project_id: string; subject: string },
): Buffer[] {
  return keys.map((key) => hmac(key, JSON.stringify([PREFIX, project_id, subject])));
}

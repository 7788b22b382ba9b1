// What is stored of an end user's subject: a keyed pseudonym, one for each key, which nobody without the keys can guess
// back and which differs between projects. Spec: Library session (subject); Files (uploader).
import { hmac } from './hmac.ts';

const PREFIX = 'sub1';

/** Under the first key it is stored; under all of them it is looked for. */
export function pseudonymsOf(
  keys: readonly Uint8Array[],
  { project_id, subject }: { project_id: string; subject: string },
): Buffer[] {
  return keys.map((key) => hmac(key, JSON.stringify([PREFIX, project_id, subject])));
}

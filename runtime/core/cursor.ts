/**
 * Cursors of keyset-paginated lists: the keys of the last row, authenticated together with their route, project, sort
 * and filters. Spec: Conventions (lists, invalid_cursor).
 */
import { ServiceError } from './errors.ts';
import { CURSOR_LENGTH_MAX } from './limits.ts';
import { hmac, isAnySecret } from './signing/hmac.ts';

/** The one list for which a cursor is valid. `filters`: any canonical text of the filters. */
export type CursorScope = { route: string; project_id: string; sort: string; filters: string };

/**
 * Prints the cursor that follows the row with these keys, under the first secret key. Throws
 * RangeError when the keys do not fit into a cursor.
 */
export function printCursor(
  [key]: readonly Uint8Array[],
  scope: CursorScope,
  position: readonly string[],
): string {
  if (key === undefined) throw new TypeError('there is no key that signs cursors');
  const cursor = sealPosition(key, scope, Buffer.from(JSON.stringify(position)));
  if (cursor.length > CURSOR_LENGTH_MAX)
    throw new RangeError('the position of a cursor is too long');
  return cursor;
}

/**
 * Reads the keys back. Throws invalid_cursor for any text that `printCursor` did not print under
 * one of these secret keys.
 */
export function parseCursor(
  keys: readonly Uint8Array[],
  scope: CursorScope,
  cursor: string,
): string[] {
  if (cursor.length > CURSOR_LENGTH_MAX) throw new ServiceError('invalid_cursor');
  const payload = Buffer.from(cursor, 'base64url').subarray(MAC_BYTES);
  // Compares the whole text, so that a second spelling of the same bytes is refused too.
  const printed = keys.map((key) => sealPosition(key, scope, payload));
  if (!isAnySecret(printed, cursor)) throw new ServiceError('invalid_cursor');
  return JSON.parse(payload.toString()) as string[];
}

const MAC_BYTES = 32;

function sealPosition(key: Uint8Array, scope: CursorScope, payload: Uint8Array): string {
  const { route, project_id, sort, filters } = scope;
  const scopeText = JSON.stringify([route, project_id, sort, filters]);
  const mac = hmac(key, `cur1\n${scopeText}\n`, payload);
  return Buffer.concat([mac, payload]).toString('base64url');
}

// Statements that every connection prepares once: frequent ones whose best plan does not depend on their values.
// Planning the lookup of a project takes PostgreSQL several times as long as running it.
import { createHash } from 'node:crypto';

/** By text; undefined once dropped. */
const names = new Map<string, string | undefined>();

/**
 * Returns the statement, which is prepared from now on. Only for constants of modules, so that
 * their number is fixed.
 */
export function prepared(text: string): string {
  names.set(text, `tintype_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`);
  return text;
}

/** The name of the prepared statement; undefined: the text is sent unprepared. */
export function preparedName(text: string): string | undefined {
  return names.get(text);
}

/** For the test that explains every one of them, also those that an earlier test made drop. */
export function listPrepared(): readonly string[] {
  return [...names.keys()];
}

/** From now on no connection uses the prepared statement. */
export function dropPrepared(text: string): void {
  names.set(text, undefined);
}

// Statements that every connection reads and plans once: those of calls that come all the time, whose best plan is the
// same whatever is asked. To plan the lookup of a project anew takes PostgreSQL several times as long as to run it.
import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/** The statement, kept from now on. For statements of modules, of which there are a fixed few. */
export function kept(text: string): string {
  names.set(text, `tintype_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`);
  return text;
}

/** The name under which connections keep it; undefined: it is sent as it stands. */
export function nameOfKept(text: string): string | undefined {
  return names.get(text);
}

export function listKept(): readonly string[] {
  return [...names.keys()];
}

/** No connection uses what it kept of the statement any more. */
export function dropKept(text: string): boolean {
  return names.delete(text);
}

// The password of the embedded PostgreSQL: made with its folder, kept there for its owner alone.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function readOrCreatePassword(folder: string): string {
  const file = join(folder, 'password');
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  // Empty where an earlier version had no room for it.
  return kept === '' ? createPassword(file) : kept;
}

/** Written beside its place: on a full disk there is none, rather than an empty one. */
function createPassword(file: string): string {
  const password = randomBytes(24).toString('hex');
  writeFileSync(`${file}.new`, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return password;
}

// The password of the embedded PostgreSQL: created with its folder, and kept there, readable only by its owner.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function readOrCreatePassword(folder: string): string {
  const file = join(folder, 'password');
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  // Empty if the disk was full when an earlier version wrote it.
  return kept === '' ? createPassword(file) : kept;
}

/** Written beside its final path: on a full disk there is no file rather than an empty one. */
function createPassword(file: string): string {
  const password = randomBytes(24).toString('hex');
  writeFileSync(`${file}.new`, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return password;
}

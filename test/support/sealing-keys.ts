/** Sealing keys of an operator and its installation: in the format of their Secrets, and parsed as in the processes. */
import { randomBytes } from 'node:crypto';
import { variables } from '../../runtime/platform/config-variables.ts';
import type { KeyEncryptionKey } from '../../runtime/platform/sealing.ts';

export function newSealingKey(id = 'k1'): string {
  return `${id}:${randomBytes(32).toString('base64')}`;
}

export function readSealingKeys(written: string): readonly KeyEncryptionKey[] {
  return variables.keyEncryptionKeys.type.parse(written);
}

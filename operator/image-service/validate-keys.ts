/**
 * Whether pods can open what the operator seals, and the reverse: both write signing keys and callback secrets to one
 * database. Each must have the key that the other seals with.
 */
import { variables } from '../../runtime/platform/config-variables.ts';
import type { KeyEncryptionKey } from '../../runtime/platform/sealing.ts';
import type { ImageServiceSpec } from './schema.ts';
import type { FoundSecrets, SecretProblem } from './secrets.ts';

type Keys = readonly KeyEncryptionKey[];

const { name: VARIABLE, type } = variables.keyEncryptionKeys;

/** Empty if the Secret has no readable keys, which is reported elsewhere. `own`: the operator's. */
export function validateKeys(
  { keysSecretRef: { name } }: Pick<ImageServiceSpec, 'keysSecretRef'>,
  found: FoundSecrets,
  own: Keys,
): SecretProblem[] {
  const theirs = type.safeParse(found[name]?.[VARIABLE]).data;
  const fault = theirs && findFault(theirs, own);
  if (fault === undefined) return [];
  const at = `Key '${VARIABLE}' of Secret '${name}' (\`spec.keysSecretRef\`)`;
  return [{ reason: 'SecretInvalid', message: `${at} ${fault}.` }];
}

function findFault(theirs: Keys, own: Keys): string | undefined {
  const [ours, sealing] = [own[0]?.id, theirs[0]?.id];
  const other = theirs.find((each) => own.some((one) => one.id === each.id && !isSame(one, each)));
  if (other !== undefined) {
    return `has another key under '${other.id}' than the operator: neither could read what the other sealed, so give both the same`;
  }
  if (!theirs.some(({ id }) => id === ours)) {
    return `lacks the key '${ours}' that the operator seals with: add it`;
  }
  if (own.some(({ id }) => id === sealing)) return undefined;
  return `begins with the key '${sealing}', which the operator does not have: add it to TINTYPE_KEY_ENCRYPTION_KEYS of the operator and restart the operator first`;
}

function isSame({ key }: KeyEncryptionKey, { key: other }: KeyEncryptionKey): boolean {
  return Buffer.from(key).equals(other);
}

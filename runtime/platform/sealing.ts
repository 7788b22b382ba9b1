// Secrets at rest (signing keys, callback secrets, stored answers): AES-256-GCM under a list of key-encryption keys.
// The first key seals, every key opens, so a key is replaced by adding a new one in front; the job `reseal` then seals
// everything anew. Envelope: version 1, length of the key id, key id, nonce, ciphertext, tag; everything before the
// nonce and the caller's context are authenticated too. The database reads the key id: see the function sealing_key.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { keyObjectOf } from '../core/signing/hmac.ts';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/;

export type KeyEncryptionKey = { readonly id: string; readonly key: Uint8Array };

/**
 * `context` says what the secret belongs to (`signing-key:<kid>`): moved to another row, it cannot
 * be opened.
 */
export type Sealing = {
  /** Of every key that opens; the first one seals. */
  readonly keyIds: readonly [string, ...string[]];
  seal(plaintext: Uint8Array, context: string): Buffer;
  open(sealed: Uint8Array, context: string): Buffer;
};

/** The message never holds key material; `keyId` is the id of the key that the envelope names. */
export class SealingError extends Error {
  readonly keyId: string | undefined;

  constructor(message: string, options: { keyId?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'SealingError';
    this.keyId = options.keyId;
  }
}

/** The secret was sealed under a key that is not configured. */
export class MissingKey extends SealingError {
  constructor(keyId: string) {
    super(`sealed under the key '${keyId}', which TINTYPE_KEY_ENCRYPTION_KEYS lacks: add it`, {
      keyId,
    });
  }
}

export function createSealing(keys: readonly KeyEncryptionKey[]): Sealing {
  const first = checkKeys(keys);
  const [, ...others] = keys.map(({ id }) => id);
  return {
    keyIds: [first.id, ...others],
    seal: (plaintext, context) => seal(first, plaintext, context),
    open: (sealed, context) => open(keys, Buffer.from(sealed), context),
  };
}

function checkKeys(keys: readonly KeyEncryptionKey[]): KeyEncryptionKey {
  const [first] = keys;
  if (first === undefined) throw new SealingError('no key-encryption key is configured');
  for (const { id, key } of keys) {
    if (!KEY_ID.test(id)) throw new SealingError('a key-encryption key has a malformed id');
    if (key.length !== KEY_BYTES) {
      throw new SealingError(`key-encryption key ${id} is not ${KEY_BYTES} bytes long`);
    }
  }
  if (new Set(keys.map((key) => key.id)).size < keys.length) {
    throw new SealingError('two key-encryption keys have the same id');
  }
  return first;
}

function seal({ id, key }: KeyEncryptionKey, plaintext: Uint8Array, context: string): Buffer {
  const head = Buffer.concat([Buffer.from([VERSION, id.length]), Buffer.from(id)]);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, keyObjectOf(key), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.concat([head, Buffer.from(context)]));
  return Buffer.concat([
    head,
    nonce,
    cipher.update(plaintext),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

function open(keys: readonly KeyEncryptionKey[], sealed: Buffer, context: string): Buffer {
  const { head, nonce, ciphertext, tag, keyId } = parseEnvelope(sealed);
  const found = keys.find((key) => key.id === keyId);
  if (found === undefined) throw new MissingKey(keyId);
  try {
    const decipher = createDecipheriv(ALGORITHM, keyObjectOf(found.key), nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.concat([head, Buffer.from(context)]));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch (cause) {
    throw new SealingError(
      `the key '${keyId}' of TINTYPE_KEY_ENCRYPTION_KEYS does not open what was sealed under this id`,
      { keyId, cause },
    );
  }
}

type Envelope = { head: Buffer; nonce: Buffer; ciphertext: Buffer; tag: Buffer; keyId: string };

function parseEnvelope(sealed: Buffer): Envelope {
  const [version, idLength = 0] = sealed;
  const nonceAt = 2 + idLength;
  const textAt = nonceAt + NONCE_BYTES;
  const tagAt = sealed.length - TAG_BYTES;
  const keyId = sealed.subarray(2, nonceAt).toString('latin1');
  if (version !== VERSION || tagAt < textAt || !KEY_ID.test(keyId)) {
    throw new SealingError('the sealed secret is not an envelope of ours');
  }
  return {
    head: sealed.subarray(0, nonceAt),
    nonce: sealed.subarray(nonceAt, textAt),
    ciphertext: sealed.subarray(textAt, tagAt),
    tag: sealed.subarray(tagAt),
    keyId,
  };
}

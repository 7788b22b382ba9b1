// A project's API key: the fixed live-key prefix and 36 hex characters. Spec: API key.
// 144 random bits need no slow hash: the service keeps the SHA-256, the prefix and the last four.
import { createHash, randomBytes } from 'node:crypto';
import { API_KEY_LAST_LENGTH, API_KEY_PREFIX, API_KEY_SECRET_HEX_LENGTH } from '../limits.ts';

const KEY_SHAPE = new RegExp(`^${API_KEY_PREFIX}[0-9a-f]{${API_KEY_SECRET_HEX_LENGTH}}$`);

/** A new key; `plaintext_secret` is shown once and never stored. */
export type NewApiKey = {
  readonly plaintext_secret: string;
  readonly secret_sha256: string;
  readonly prefix: string;
  readonly last_four: string;
};

export function newApiKey(): NewApiKey {
  const secret = `${API_KEY_PREFIX}${randomBytes(API_KEY_SECRET_HEX_LENGTH / 2).toString('hex')}`;
  return {
    plaintext_secret: secret,
    secret_sha256: hashApiKey(secret),
    prefix: API_KEY_PREFIX,
    last_four: secret.slice(-API_KEY_LAST_LENGTH),
  };
}

/** Whether a text could be a key; anything else is not looked up. */
export function isApiKey(text: string): boolean {
  return KEY_SHAPE.test(text);
}

/** The stored form, used for lookups: SHA-256 in hex. */
export function hashApiKey(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

import { describe, expect, it } from 'vitest';
import { hashApiKey, isApiKey, newApiKey } from '../../../../runtime/core/signing/api-key.ts';

describe('an API key', () => {
  it('is tin_live_ and 36 hex characters, with its last four and its hash', () => {
    const key = newApiKey();
    expect(key.plaintext_secret).toMatch(/^tin_live_[0-9a-f]{36}$/);
    expect(key.prefix).toBe('tin_live_');
    expect(key.plaintext_secret.endsWith(key.last_four)).toBe(true);
    expect(key.last_four).toHaveLength(4);
    expect(key.secret_sha256).toBe(hashApiKey(key.plaintext_secret));
  });
  it('is new every time', () => {
    const keys = Array.from({ length: 1000 }, () => newApiKey().plaintext_secret);
    expect(new Set(keys).size).toBe(keys.length);
  });
  it('is hashed with SHA-256', () => {
    expect(hashApiKey(`tin_live_${'0123456789ab'.repeat(3)}`)).toBe(
      '3e8b1a5d75f23e10561b8713318be7ff34705b9c0b1a011323af28e0f82459de',
    );
  });
  it('is recognized only in its exact form', () => {
    const { plaintext_secret: secret } = newApiKey();
    expect(isApiKey(secret)).toBe(true);
    const others = [
      secret.toUpperCase(),
      `${secret}0`,
      secret.slice(1),
      `${secret}\n`,
      '',
      'ls1.a',
    ];
    for (const text of others) expect(isApiKey(text), text).toBe(false);
  });
});

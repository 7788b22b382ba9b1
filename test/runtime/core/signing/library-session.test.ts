import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signFields } from '../../../../runtime/core/signing/hmac.ts';
import {
  isLibrarySession,
  type LibrarySessionClaims,
  signLibrarySession,
  verifyLibrarySession,
} from '../../../../runtime/core/signing/library-session.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const key = { id: 't1', key: Buffer.from(Array.from({ length: 32 }, (_, i) => i)) };
const claims: LibrarySessionClaims = {
  session_id: 'lss_01',
  project_id: 'prj_01',
  library: 'default',
  library_id: null,
  folder: '',
  permissions: ['browse', 'upload'],
  origin: 'https://shop.example',
  subject_mac: 'c3Vi',
  key_id: 'key_01',
  max_file_bytes: 26_214_400,
  max_uploads: 100,
  iat: 1_799_996_400,
  exp: 1_800_000_000,
};
const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
const token = `ls1.t1.${payload}.gJ24Anq6SDzrg63BTJzF6FkO_gZGCuHVq73tdQzSzlM`;
const now = claims.exp - 1;

describe('a library session token', () => {
  it('is ls1.{kid}.{payload}.{mac}, with the mac over everything before it', () => {
    expect(signLibrarySession(key, claims)).toBe(token);
    expect(verifyLibrarySession([key], token, now)).toEqual({ outcome: 'valid', claims });
  });
  it('expires at exp and then still yields its claims, for a refresh', () => {
    const verdict = verifyLibrarySession([key], token, claims.exp);
    expect(verdict).toEqual({ outcome: 'session_expired', claims });
  });
  it('is recognized by its prefix', () => {
    expect(isLibrarySession(token)).toBe(true);
    expect(isLibrarySession('tin_live_0')).toBe(false);
    expect(isLibrarySession('ls1')).toBe(false);
  });
  it('is invalid under an unknown kid', () => {
    const verdict = verifyLibrarySession([{ ...key, id: 't2' }], token, now);
    expect(verdict).toEqual({ outcome: 'invalid_session' });
  });
  it('is invalid if its claims have the wrong shape, even if the signature is correct', () => {
    const foreign = [{}, null, { ...claims, exp: 'never' }, { ...claims, admin: true }];
    for (const value of foreign) {
      const text = Buffer.from(JSON.stringify(value)).toString('base64url');
      const fields = ['ls1', 't1', text];
      const signed = [...fields, signFields(key.key, '.', fields)].join('.');
      expect(verifyLibrarySession([key], signed, now).outcome).toBe('invalid_session');
    }
  });
  it('is invalid beyond 4096 characters', () => {
    const long = signLibrarySession(key, { ...claims, folder: 'x'.repeat(4096) });
    expect(verifyLibrarySession([key], long, now).outcome).toBe('invalid_session');
  });
  it('is not valid for any mutation', () => {
    fc.assert(
      fc.property(mutationsOf(token), (altered) => {
        expect(verifyLibrarySession([key], altered, now).outcome).toBe('invalid_session');
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import {
  createLibrarySessionBody,
  hasExclusivePermissions,
  listLibraryFilesQuery,
} from '../../../../runtime/core/resources/library-session.ts';

describe('createLibrarySessionBody', () => {
  const session = {
    library: 'default',
    permissions: ['upload', 'browse'],
    origin: 'https://a.example',
    subject: 'u',
  };

  it('fills in the defaults of the specification', () => {
    expect(createLibrarySessionBody.parse(session)).toEqual({
      ...session,
      permissions: ['browse', 'upload'],
      folder: '',
      expires_in: 3600,
      max_uploads: 100,
    });
  });

  it.each([
    { expires_in: 59 },
    { expires_in: 3601 },
    { max_uploads: 0 },
    { max_uploads: 1001 },
    { permissions: [] },
    { origin: 'http://a.example' },
  ])('rejects %j', (wrong) =>
    expect(createLibrarySessionBody.safeParse({ ...session, ...wrong }).success).toBe(false),
  );

  it('treats browse and browse_own as mutually exclusive', () => {
    expect(hasExclusivePermissions(['browse', 'browse_own'])).toBe(true);
    expect(hasExclusivePermissions(['browse_own', 'upload'])).toBe(false);
  });

  it('limits the picker’s list to 60 files, 40 by default', () => {
    expect(listLibraryFilesQuery.parse({}).limit).toBe(40);
    expect(listLibraryFilesQuery.safeParse({ limit: '61' }).success).toBe(false);
  });
});

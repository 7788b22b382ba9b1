// Spec: Authentication, Rules 6.
import { describe, expect, it } from 'vitest';
import { sessionErrorCode } from '../../../runtime/actions/library-session-status.ts';
import { LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS } from '../../../runtime/core/limits.ts';
import type { LibrarySessionFacts } from '../../../runtime/db/library-sessions.ts';

const REVOKED_AT = 1_800_000_000;
const PAUSE = LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS;
const revoked = {
  status: 'active',
  key_status: 'active',
  is_library_gone: false,
  revoked_at_seconds: REVOKED_AT,
} as LibrarySessionFacts;

describe('a library session whose subject was revoked', () => {
  it.each([
    ['long before', -3600],
    ['in the same second', 0],
    ['just before, by a clock that is ahead', PAUSE / 2 - 1],
  ])('ends if it was minted %s', (_, after) => {
    expect(sessionErrorCode({ iat: REVOKED_AT + after }, revoked)).toBe('session_revoked');
  });

  it.each([
    ['after the pause', PAUSE],
    ['after the pause, by a clock that is behind', PAUSE / 2],
  ])('stays valid if it was minted %s', (_, after) => {
    expect(sessionErrorCode({ iat: REVOKED_AT + after }, revoked)).toBeUndefined();
  });
});

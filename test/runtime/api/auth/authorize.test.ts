import { describe, expect, it } from 'vitest';
import type { Credential } from '../../../../runtime/api/auth/principal.ts';
import { byBearer, byHeader, useAuthorizeServer } from '../../../support/authorize-server.ts';

const { state, send, codeOf } = useAuthorizeServer();
describe('a library session token', () => {
  it('is rejected with 401 library_session_not_allowed outside the library routes', async () => {
    const lists: Credential[][] = [['dash'], ['key'], ['dash', 'key:files:read'], ['staff']];
    for (const list of lists) {
      state.allowed = list;
      expect(await codeOf(byBearer('ls1.t1.e30.abc'))).toBe('401 library_session_not_allowed');
    }
  });
});

describe('an endpoint that needs no credentials', () => {
  it('lets every caller in and ignores any credential sent', async () => {
    state.allowed = ['none'];
    for (const sent of [{}, byBearer('x'), byHeader('x'), { method: 'POST', body: '{}' }]) {
      expect(await send(sent)).toEqual({ code: 'ok', principal: { kind: 'none' } });
    }
  });
});

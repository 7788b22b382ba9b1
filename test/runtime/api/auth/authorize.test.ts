import { describe, expect, it } from 'vitest';
import type { Credential } from '../../../../runtime/api/auth/principal.ts';
import { byBearer, byHeader, useAuthorizeServer } from '../../../support/authorize-server.ts';

const { state, send, codeOf } = useAuthorizeServer();
describe('a library session token', () => {
  it('is 401 library_session_not_allowed outside of its own routes', async () => {
    const lists: Credential[][] = [['dash'], ['key'], ['dash', 'key:files:read'], ['staff']];
    for (const list of lists) {
      state.allowed = list;
      expect(await codeOf(byBearer('ls1.t1.e30.abc'))).toBe('401 library_session_not_allowed');
    }
  });
});

describe('an endpoint without credentials', () => {
  it('lets everyone in and looks at nothing', async () => {
    state.allowed = ['none'];
    for (const sent of [{}, byBearer('x'), byHeader('x'), { method: 'POST', body: '{}' }]) {
      expect(await send(sent)).toEqual({ code: 'ok', principal: { kind: 'none' } });
    }
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../../runtime/core/signing/api-key.ts';
import { byBearer, byHeader, useAuthorizeServer } from '../../../support/authorize-server.ts';

const { db, state, send, codeOf, makeKey } = useAuthorizeServer();
describe('an API key', () => {
  beforeEach(() => {
    state.allowed = ['dash', 'key:files:read'];
  });
  it('authenticates as a bearer token and in X-Api-Key', async () => {
    const { secret, keyId, projectId } = await makeKey();
    for (const sent of [byBearer(secret), byHeader(secret)]) {
      const { code, principal } = await send(sent);
      expect(code).toBe('ok');
      expect(principal).toMatchObject({
        kind: 'key',
        key: { key_id: keyId, project_id: projectId, project: { status: 'active' } },
      });
    }
  });
  it('in X-Api-Key is looked at first when both are sent, and decides alone', async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    const both = (first: string, second: string) =>
      send({ headers: { 'x-api-key': first, authorization: `Bearer ${second}` } });
    expect(await both(one.secret, two.secret)).toMatchObject({
      principal: { key: { key_id: one.keyId } },
    });
    expect((await both('nonsense', two.secret)).code).toBe('401 unauthorized');
    expect((await both('', two.secret)).code).toBe('401 unauthorized');
  });
  it('that is missing, mistyped or revoked is 401 unauthorized', async () => {
    const { secret } = await makeKey();
    const revoked = await makeKey({ status: 'revoked' });
    const wrong = [
      newApiKey().plaintext_secret,
      secret.slice(0, -1),
      `${secret}0`,
      secret.toUpperCase(),
    ];
    for (const text of [...wrong, revoked.secret, 'tin_live_', '']) {
      expect(await codeOf(byBearer(text)), text).toBe('401 unauthorized');
      expect(await codeOf(byHeader(text)), text).toBe('401 unauthorized');
    }
    expect(await codeOf({})).toBe('401 unauthorized');
    expect(await codeOf({ headers: { authorization: `Basic ${secret}` } })).toBe(
      '401 unauthorized',
    );
    expect(await codeOf({ headers: { authorization: secret } })).toBe('401 unauthorized');
  });
  it('of a suspended project does not authenticate', async () => {
    const { secret } = await makeKey({ project: 'suspended' });
    expect(await codeOf(byBearer(secret))).toBe('401 unauthorized');
  });
  it('sent twice in one request is refused', async () => {
    const { secret } = await makeKey();
    expect(await codeOf({ headers: { 'x-api-key': [secret, secret] } })).toBe('401 unauthorized');
  });
  it('without a list of scopes has all of them', async () => {
    const { secret } = await makeKey();
    for (const scope of ['files:read', 'urls:sign', 'library:sessions'] as const) {
      state.allowed = [`key:${scope}`];
      expect(await codeOf(byBearer(secret))).toBe('ok');
    }
  });
  it('without the scope that is needed is 403 forbidden', async () => {
    const { secret } = await makeKey({ scopes: ['urls:sign'] });
    expect(await codeOf(byBearer(secret))).toBe('403 forbidden');
    state.allowed = ['key:urls:sign'];
    expect(await codeOf(byBearer(secret))).toBe('ok');
    state.allowed = ['key'];
    expect(await codeOf(byBearer(secret))).toBe('ok');
  });
  it('on a browser-only route is 403 browser_session_required', async () => {
    const { secret } = await makeKey();
    for (const only of ['dash', 'staff'] as const) {
      state.allowed = [only];
      expect(await codeOf(byBearer(secret))).toBe('403 browser_session_required');
      expect(await codeOf(byBearer(newApiKey().plaintext_secret))).toBe('401 unauthorized');
    }
  });
  it('needs no request signature to write', async () => {
    const { secret } = await makeKey();
    expect(await codeOf({ ...byBearer(secret), method: 'POST', body: '{}' })).toBe('ok');
  });
  it('remembers when it was last used', async () => {
    const { secret, keyId } = await makeKey();
    await send(byBearer(secret));
    const [row] = await db.query<{ last_used_at: Date | null }>(
      'select last_used_at from api_keys where key_id = $1',
      [keyId],
    );
    expect(row?.last_used_at).toBeInstanceOf(Date);
  });
});

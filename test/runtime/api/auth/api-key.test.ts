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
  it('is read from X-Api-Key when both headers are sent, without falling back to the bearer token', async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    const both = (first: string, second: string) =>
      send({ headers: { 'x-api-key': first, authorization: `Bearer ${second}` } });
    expect(await both(one.secret, two.secret)).toMatchObject({
      principal: { key: { key_id: one.keyId } },
    });
    expect((await both('nonsense', two.secret)).code).toBe('401 unauthorized');
    expect((await both('', two.secret)).code).toBe('401 unauthorized');
  });
  it('is rejected with 401 unauthorized if it is missing, mistyped or revoked', async () => {
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
  it('does not authenticate while its project is suspended', async () => {
    const { secret } = await makeKey({ project: 'suspended' });
    expect(await codeOf(byBearer(secret))).toBe('401 unauthorized');
  });
  it('is rejected if X-Api-Key is sent twice', async () => {
    const { secret } = await makeKey();
    expect(await codeOf({ headers: { 'x-api-key': [secret, secret] } })).toBe('401 unauthorized');
  });
  it('has all scopes if it was created without a list of scopes', async () => {
    const { secret } = await makeKey();
    for (const scope of ['files:read', 'urls:sign', 'library:sessions'] as const) {
      state.allowed = [`key:${scope}`];
      expect(await codeOf(byBearer(secret))).toBe('ok');
    }
  });
  it('is rejected with 403 forbidden if it lacks the required scope', async () => {
    const { secret } = await makeKey({ scopes: ['urls:sign'] });
    expect(await codeOf(byBearer(secret))).toBe('403 forbidden');
    state.allowed = ['key:urls:sign'];
    expect(await codeOf(byBearer(secret))).toBe('ok');
    state.allowed = ['key'];
    expect(await codeOf(byBearer(secret))).toBe('ok');
  });
  it('is rejected with 403 browser_session_required on a browser-only route', async () => {
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
  it('records when it was last used', async () => {
    const { secret, keyId } = await makeKey();
    await send(byBearer(secret));
    const [row] = await db.query<{ last_used_at: Date | null }>(
      'select last_used_at from api_keys where key_id = $1',
      [keyId],
    );
    expect(row?.last_used_at).toBeInstanceOf(Date);
  });
});

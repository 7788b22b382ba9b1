import { describe, expect, it } from 'vitest';
import {
  identityInOutage,
  signatureOf,
  useAuthorizeServer,
} from '../../../support/authorize-server.ts';

const subject = 'user_1';
const { state, send, codeOf, sessionHeaders, countAccounts } = useAuthorizeServer();
describe('a browser session', () => {
  it('is a user with an organization', async () => {
    const { code, principal } = await send({ headers: await sessionHeaders(subject) });
    expect(code).toBe('ok');
    expect(principal).toMatchObject({
      kind: 'dash',
      subject,
      is_staff: false,
      user: { subject },
      organization: { credit_balance: 1000 },
    });
  });
  it('stores the display headers of the first login, in UTF-8, and no later ones', async () => {
    const named = async (name: string) => ({
      ...(await sessionHeaders('user_named')),
      'x-identity-user-name': Buffer.from(name).toString('latin1'),
      'x-identity-user-email': 'zoe@example.com',
    });
    const stored = { user: { name: 'Zo\u00eb \u{1f4f7}', email: 'zoe@example.com' } };
    expect((await send({ headers: await named('Zo\u00eb \u{1f4f7}') })).principal).toMatchObject(
      stored,
    );
    expect((await send({ headers: await named('Mallory') })).principal).toMatchObject(stored);
  });
  it('whose x-identity-user-id is missing or not the sub is 401', async () => {
    const { authorization = '' } = await sessionHeaders(subject);
    const ids = ['user_other', subject.toUpperCase(), `${subject} x`, ''];
    expect(await codeOf({ headers: { authorization } })).toBe('401 unauthorized');
    for (const id of ids) {
      const headers = { authorization, 'x-identity-user-id': id };
      expect(await codeOf({ headers }), id).toBe('401 unauthorized');
    }
    const twice = { authorization, 'x-identity-user-id': [subject, subject] };
    expect(await codeOf({ headers: twice })).toBe('401 unauthorized');
  });
  it('with a token that does not verify is 401, during an outage of the key set 503', async () => {
    const headers = await sessionHeaders(subject);
    const tampered = {
      ...headers,
      authorization: `${headers.authorization?.slice(0, -5)}AAAAA`,
    };
    expect(await codeOf({ headers: tampered })).toBe('401 unauthorized');
    state.deps = { identity: identityInOutage() };
    expect(await codeOf({ headers })).toBe('503 auth_unavailable');
  });
  it('on a key-only route is 403 api_key_required, signed or not, and makes no account', async () => {
    state.allowed = ['key:library:sessions'];
    const before = await countAccounts();
    const write = { method: 'POST', body: '{}' };
    const headers = await sessionHeaders(subject);
    expect(await codeOf({ ...write, headers })).toBe('403 api_key_required');
    const signed = { ...headers, ...signatureOf(write) };
    expect(await codeOf({ ...write, headers: signed })).toBe('403 api_key_required');
    expect(await countAccounts()).toBe(before);
  });
});

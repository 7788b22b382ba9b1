import { describe, expect, it } from 'vitest';
import {
  identityInOutage,
  signatureOf,
  useAuthorizeServer,
} from '../../../support/authorize-server.ts';

const subject = 'user_1';
const { state, send, codeOf, sessionHeaders, countAccounts } = useAuthorizeServer();
describe('a browser session', () => {
  it('authenticates as a user with an organization', async () => {
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
  it('stores the display headers of the first login as UTF-8 and ignores later ones', async () => {
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
  it('is rejected with 401 unless x-identity-user-id is sent once and equals the sub', async () => {
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
  it('is rejected with 401 for an invalid token, and with 503 during a key set outage', async () => {
    const headers = await sessionHeaders(subject);
    const tampered = {
      ...headers,
      authorization: `${headers.authorization?.slice(0, -5)}AAAAA`,
    };
    expect(await codeOf({ headers: tampered })).toBe('401 unauthorized');
    state.deps = { identity: identityInOutage() };
    expect(await codeOf({ headers })).toBe('503 auth_unavailable');
  });
  it('is rejected with 403 api_key_required on a key-only route, signed or not, and creates no account', async () => {
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

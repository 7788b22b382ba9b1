import { describe, expect, it } from 'vitest';
import { type Sent, signatureOf, useAuthorizeServer } from '../../../support/authorize-server.ts';

const subject = 'user_1';
const { state, send, codeOf, sessionHeaders, countAccounts } = useAuthorizeServer();
describe('the request signature', () => {
  const writes: Sent[] = ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
    method,
    path: '/v1/projects/shop',
    body: '{"name": "Sh\u00f6p"}',
  }));
  it('is required for every write of a browser, but not for a read', async () => {
    const headers = await sessionHeaders(subject);
    expect(await codeOf({ headers })).toBe('ok');
    for (const write of writes) {
      expect(await codeOf({ ...write, headers })).toBe('401 invalid_request_signature');
      const signed = { ...headers, ...signatureOf(write) };
      expect(await codeOf({ ...write, headers: signed }), write.method).toBe('ok');
    }
  });
  it('covers the method, pathname and raw body, but not the query string', async () => {
    const write = { method: 'PATCH', path: '/v1/projects/shop?a=1', body: '{"name":"Shop"}' };
    const headers = { ...(await sessionHeaders(subject)), ...signatureOf(write) };
    expect(await codeOf({ ...write, headers })).toBe('ok');
    expect(await codeOf({ ...write, path: '/v1/projects/shop?b=2', headers })).toBe('ok');
    const others: Sent[] = [
      { method: 'PUT' },
      { path: '/v1/projects/other' },
      { path: '/v1/projects/sho%70' },
      { body: '{"name": "Shop"}' },
      { body: '' },
    ];
    for (const other of others) {
      const code = await codeOf({ ...write, ...other, headers });
      expect(code, JSON.stringify(other)).toBe('401 invalid_request_signature');
    }
  });
  it('covers an empty body as the empty string', async () => {
    const write = { method: 'DELETE', path: '/v1/projects/shop' };
    const headers = { ...(await sessionHeaders(subject)), ...signatureOf(write) };
    expect(await codeOf({ ...write, headers })).toBe('ok');
  });
  it('is checked before an account is created', async () => {
    const before = await countAccounts();
    await send({ method: 'POST', headers: await sessionHeaders('user_unsigned') });
    expect(await countAccounts()).toBe(before);
  });
  it('is never valid if no signing secret is configured', async () => {
    state.deps = { requestSigningSecret: undefined };
    const write = { method: 'POST', body: '{}' };
    const headers = { ...(await sessionHeaders(subject)), ...signatureOf(write) };
    expect(await codeOf({ ...write, headers })).toBe('401 invalid_request_signature');
  });
});

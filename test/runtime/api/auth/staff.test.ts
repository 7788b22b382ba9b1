import { beforeEach, describe, expect, it } from 'vitest';
import {
  STAFF_SUBJECT,
  signatureOf,
  useAuthorizeServer,
} from '../../../support/authorize-server.ts';

const subject = 'user_1';
const { state, send, codeOf, sessionHeaders } = useAuthorizeServer();
describe('staff authentication', () => {
  beforeEach(() => {
    state.allowed = ['staff'];
  });
  it('accepts the listed subjects and returns 403 staff_only to any other session', async () => {
    const staff = await send({ headers: await sessionHeaders(STAFF_SUBJECT) });
    expect(staff).toMatchObject({ code: 'ok', principal: { kind: 'dash', is_staff: true } });
    expect(await codeOf({ headers: await sessionHeaders(subject) })).toBe('403 staff_only');
    expect(await codeOf({})).toBe('401 unauthorized');
  });
  it('requires a request signature for writes', async () => {
    const write = { method: 'POST', path: '/v1/staff/incidents', body: '{}' };
    const headers = await sessionHeaders(STAFF_SUBJECT);
    expect(await codeOf({ ...write, headers })).toBe('401 invalid_request_signature');
    const signed = { ...headers, ...signatureOf(write) };
    expect(await codeOf({ ...write, headers: signed })).toBe('ok');
  });
  it('treats staff as ordinary users while the staff API is disabled', async () => {
    state.deps = { staff: { is_enabled: false, subjects: [STAFF_SUBJECT] } };
    const headers = await sessionHeaders(STAFF_SUBJECT);
    expect(await codeOf({ headers })).toBe('403 staff_only');
    state.allowed = ['dash'];
    expect((await send({ headers })).principal).toMatchObject({ is_staff: false });
  });
});

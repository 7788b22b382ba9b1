import { beforeEach, describe, expect, it } from 'vitest';
import {
  STAFF_SUBJECT,
  signatureOf,
  useAuthorizeServer,
} from '../../../support/authorize-server.ts';

const subject = 'user_1';
const { state, send, codeOf, sessionHeaders } = useAuthorizeServer();
describe('staff', () => {
  beforeEach(() => {
    state.allowed = ['staff'];
  });
  it('are sessions of the list; any other session is 403 staff_only', async () => {
    const staff = await send({ headers: await sessionHeaders(STAFF_SUBJECT) });
    expect(staff).toMatchObject({ code: 'ok', principal: { kind: 'dash', is_staff: true } });
    expect(await codeOf({ headers: await sessionHeaders(subject) })).toBe('403 staff_only');
    expect(await codeOf({})).toBe('401 unauthorized');
  });
  it('sign their writes', async () => {
    const write = { method: 'POST', path: '/v1/staff/incidents', body: '{}' };
    const headers = await sessionHeaders(STAFF_SUBJECT);
    expect(await codeOf({ ...write, headers })).toBe('401 invalid_request_signature');
    const signed = { ...headers, ...signatureOf(write) };
    expect(await codeOf({ ...write, headers: signed })).toBe('ok');
  });
  it('are users like others while the staff API is disabled', async () => {
    state.deps = { staff: { is_enabled: false, subjects: [STAFF_SUBJECT] } };
    const headers = await sessionHeaders(STAFF_SUBJECT);
    expect(await codeOf({ headers })).toBe('403 staff_only');
    state.allowed = ['dash'];
    expect((await send({ headers })).principal).toMatchObject({ is_staff: false });
  });
});

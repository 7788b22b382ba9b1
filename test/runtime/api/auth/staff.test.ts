import { beforeEach, describe, expect, it } from 'vitest';
import {
  byBearer,
  STAFF_SUBJECT,
  signatureOf,
  useAuthorizeServer,
} from '../../../support/authorize-server.ts';

const subject = 'user_1';
const { state, send, codeOf, sessionHeaders, makeKey } = useAuthorizeServer();
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
  it('do not exist while the staff API is disabled: 404 for everyone', async () => {
    state.deps = { staff: { is_enabled: false, subjects: [STAFF_SUBJECT] } };
    const { secret } = await makeKey();
    const callers = [
      {},
      byBearer(secret),
      byBearer('x'),
      { headers: await sessionHeaders(STAFF_SUBJECT) },
    ];
    for (const caller of callers) expect(await codeOf(caller)).toBe('404 not_found');
    state.allowed = ['dash'];
    const { principal } = await send({ headers: await sessionHeaders(STAFF_SUBJECT) });
    expect(principal).toMatchObject({ is_staff: false });
  });
});

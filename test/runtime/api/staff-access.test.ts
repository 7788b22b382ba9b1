// The staff endpoints against every kind of caller, with the staff API on and off. Spec: Staff (all require Staff).
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { codeOf, newSubject, signatureOf } from '../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);

const ofStaff = endpoints.filter(({ auth }) => auth.includes('staff'));
const pathOf = ({ path }: Endpoint) => path.replaceAll(/\{\w+\}/g, 'nobody');
/** The caller is authorized, but the resource does not exist or the body is missing. */
const LET_IN = ['404 not_found', '404 file_not_found', '400 invalid_request'];

describe.each(ofStaff)('$method $path', (endpoint) => {
  const { method } = endpoint;
  const path = pathOf(endpoint);

  it('lets staff in, and requires a request signature for writes', async () => {
    const answer = await staff(method, path);
    const seen = answer.status < 300 ? 'let in' : codeOf(answer);
    expect(['let in', ...LET_IN]).toContain(seen);
    const headers = await api.sessionHeaders(STAFF_SUBJECT);
    const unsigned = codeOf(await api.send({ method, path, headers }));
    if (method !== 'GET') expect(unsigned).toBe('401 invalid_request_signature');
    const signature = signatureOf(method, `${path}x`, '');
    const other = codeOf(await api.send({ method, path, headers: { ...headers, ...signature } }));
    if (method !== 'GET') expect(other).toBe('401 invalid_request_signature');
  });

  it('returns 404 not_found to any caller and for any body while the staff API is disabled', async () => {
    api.change({ staff: { is_enabled: false, subjects: [STAFF_SUBJECT] } });
    for (const call of [staff, owner, api.anonymous, api.withKey('tin_live_nonsense')])
      expect(codeOf(await call(method, path, { nonsense: 1 }))).toBe('404 not_found');
    if (method === 'GET') return;
    const raw = ' '.repeat(endpoint.body_bytes_max + 1);
    const headers = { 'content-encoding': 'gzip' };
    for (const body of [{ raw: '{' }, { raw }, { raw: '{}', headers }])
      expect(codeOf(await api.send({ method, path, ...body }))).toBe('404 not_found');
  });
});

it('an unknown path below /v1/staff returns 404 not_found with the staff API enabled and disabled', async () => {
  expect(codeOf(await staff('GET', '/v1/staff/nothing'))).toBe('404 not_found');
  api.change({ staff: { is_enabled: false, subjects: [STAFF_SUBJECT] } });
  expect(codeOf(await staff('GET', '/v1/staff/nothing'))).toBe('404 not_found');
});

// Spec: Rules (4: repeated failed authentications or writes); Rates. Which subject's limit a call counts against.
import { describe, expect, it } from 'vitest';
import { createRates } from '../../../../runtime/api/rates/rates.ts';
import { codeOf, createProject, newSubject, signatureOf } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { libraryProject } from '../../../support/library-sessions.ts';
import { untilEarlyInMinute } from '../../../support/minute.ts';

const api = useApi();
const { db } = api;

const small = (failed: number, writes: number) =>
  createRates({
    ...api.deps(),
    failedAuthenticationsPerMinute: failed,
    writesPerMinute: writes,
  });

describe('rate limits', { timeout: 300_000 }, () => {
  it('count the writes of all library sessions and keys of a project together', async () => {
    await untilEarlyInMinute(db);
    const owner = api.session(newSubject());
    const shop = await libraryProject(api, owner);
    const other = await libraryProject(api, owner);
    const sessions = [await shop.open(), await shop.open(), await shop.open({ subject: 'b' })];
    const elsewhere = await other.open();
    api.change({ rates: small(100, 2) });
    const image = { content_type: 'image/png', size_bytes: 1000 };
    const codes = [];
    for (const session of sessions) {
      codes.push(codeOf(await session('POST', '/v1/library/uploads', image)));
    }
    expect(codes).toEqual(['201', '201', '429 rate_limited']);
    expect(codeOf(await shop.key('POST', `${shop.path}/uploads`, image))).toBe('429 rate_limited');
    expect(codeOf(await elsewhere('POST', '/v1/library/uploads', image))).toBe('201');
  });

  it('reject repeated wrong request signatures from an address with 429, but not a valid one', async () => {
    await untilEarlyInMinute(db);
    const subject = newSubject();
    const { project_slug } = await createProject(api.session(subject));
    api.change({ rates: small(2, 100), settings: { trustedProxies: ['127.0.0.1'] } });
    const [method, path, raw] = ['PATCH', `/v1/projects/${project_slug}`, '{"name":"x"}'];
    const rename = async (address: string, signed = raw) => {
      const who = { ...(await api.sessionHeaders(subject)), ...signatureOf(method, path, signed) };
      return api.send({ method, path, raw, headers: { ...who, 'x-forwarded-for': address } });
    };
    const codes = [];
    for (let n = 0; n < 3; n += 1) codes.push(codeOf(await rename('203.0.113.20', '{}')));
    const wrong = '401 invalid_request_signature';
    expect(codes).toEqual([wrong, wrong, '429 rate_limited']);
    const refused = await rename('203.0.113.20', '{}');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(codeOf(await rename('203.0.113.20'))).toBe('200');
    expect(codeOf(await rename('203.0.113.21', '{}'))).toBe(wrong);
  });
});

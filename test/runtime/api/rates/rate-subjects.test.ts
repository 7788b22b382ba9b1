// Spec: Rules (4: repeated failed authentications or writes); Rates. Whose share it is that a call counts with.
import { describe, expect, it } from 'vitest';
import { createRates } from '../../../../runtime/api/rates/rates.ts';
import { codeOf, newSubject } from '../../../support/api-client.ts';
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

describe('an API with small rates', { timeout: 300_000 }, () => {
  it('counts what the library sessions of a project write as one, and with what its keys write', async () => {
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
});

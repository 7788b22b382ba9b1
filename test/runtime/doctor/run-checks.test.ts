import { expect, it } from 'vitest';
import { identityChecks } from '../../../runtime/doctor/outside-checks.ts';
import { runChecks } from '../../../runtime/doctor/run-checks.ts';
import { parseConfig } from '../../../runtime/platform/config.ts';

it('the report of a failed check hides the credentials in a URL', async () => {
  const jwksUrl = 'http://tintype:one@hidden-word@127.0.0.1:1/jwks.json';
  const config = parseConfig({ TINTYPE_IDENTITY_JWKS_URL: jwksUrl });
  const nothing = { db: undefined, storage: undefined, broker: undefined, cors: 'check' } as const;
  const [report] = await runChecks(identityChecks, { ...nothing, config, jwksUrl });
  expect(report).toMatchObject({
    outcome: 'wrong',
    says: expect.stringContaining('includes credentials: http://[hidden]@127.0.0.1:1/jwks.json'),
  });
});

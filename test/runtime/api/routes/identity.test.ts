// Spec: Identity and organizations; Credentials (IdentityUserId).
import { describe, expect, it } from 'vitest';
import { defaultPlans } from '../../../../runtime/core/plans.ts';
import { meRecord } from '../../../../runtime/core/resources/organization.ts';
import { codeOf, expectRecord, newSubject } from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';

const api = useApi();

describe('GET /v1/me', () => {
  it('returns the session’s user, organization, role and staff flag', async () => {
    const subject = newSubject();
    const { status, body } = await api.session(subject)('GET', '/v1/me');
    expect(status).toBe(200);
    expectRecord(meRecord, body);
    expect(body).toMatchObject({ user: { subject }, role: 'owner', staff: false });
    expect(body.organization).toMatchObject({
      credit_balance: defaultPlans.trial.credits,
      quota_exceeded_at: null,
      billing_exempt: false,
      billing_exempt_until: null,
    });
  });

  it('flags staff', async () => {
    const { body } = await api.session(STAFF_SUBJECT)('GET', '/v1/me');
    expect(body.staff).toBe(true);
  });

  it('returns the same account on later requests, whatever their display headers', async () => {
    const subject = newSubject();
    const headers = await api.sessionHeaders(subject);
    const first = await api.send({
      path: '/v1/me',
      headers: {
        ...headers,
        'x-identity-user-name': 'Ada',
        'x-identity-user-email': 'a@x.example',
      },
    });
    expect(first.body.user).toMatchObject({ name: 'Ada', email: 'a@x.example' });
    expect(first.body.organization.name).toBe('Ada');
    const later = { ...headers, 'x-identity-user-name': 'Mallory' };
    expect((await api.send({ path: '/v1/me', headers: later })).body).toEqual(first.body);
  });

  it('creates one account for a subject’s first 20 concurrent requests', async () => {
    const subject = newSubject();
    const call = api.session(subject);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('GET', '/v1/me')));
    expect(answers.map(codeOf)).toEqual(answers.map(() => '200'));
    const [first] = answers;
    for (const { body } of answers) expect(body).toEqual(first?.body);
    const users = await api.db.query('select 1 from users where subject = $1', [subject]);
    const grants = await api.db.query('select 1 from credit_grants where organization_id = $1', [
      first?.body.organization.organization_id,
    ]);
    expect([users.length, grants.length]).toEqual([1, 1]);
  });
});

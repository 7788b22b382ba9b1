// Spec: Identity and organizations (GET and POST /v1/organizations); Organization.
import { describe, expect, it } from 'vitest';
import { defaultPlans } from '../../../../runtime/core/plans.ts';
import { organizationRecord } from '../../../../runtime/core/resources/organization.ts';
import {
  codeOf,
  expectRecord,
  issuesOf,
  newSubject,
  signatureOf,
} from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { waitPatiently } from '../../../support/patient-database.ts';

const api = useApi();
const staff = api.session(STAFF_SUBJECT);
const PATH = '/v1/organizations';

const audited = (target: string) =>
  api.db.query(
    'select organization_id, actor_kind, actor_id, action, before, after, request_id from audit_log where target = $1',
    [target],
  );

describe('GET /v1/organizations', () => {
  it('returns only the caller’s own organization, whatever page is requested', async () => {
    const call = api.session(newSubject());
    const { organization } = (await call('GET', '/v1/me')).body;
    await api.session(newSubject())('GET', '/v1/me');
    for (const query of ['', '?limit=1', '?limit=1&cursor=x']) {
      const { status, body } = await call('GET', PATH + query);
      expect([status, body]).toEqual([200, { items: [organization], next_cursor: null }]);
    }
    expectRecord(organizationRecord, organization);
  });

  it('returns only their own organization to staff, too', async () => {
    const { organization } = (await staff('GET', '/v1/me')).body;
    expect((await staff('GET', PATH)).body.items).toEqual([organization]);
  });
});

describe('POST /v1/organizations by a tenant', () => {
  it('returns 200 with its own organization, which the first request creates with an audit entry', async () => {
    const subject = newSubject();
    const call = api.session(subject);
    const first = await call('POST', PATH, { name: 'Mine' });
    expect(first.status).toBe(200);
    expectRecord(organizationRecord, first.body);
    expect((await call('GET', PATH)).body.items).toEqual([first.body]);
    expect((await call('POST', PATH)).body).toEqual(first.body);
    const { organization_id } = first.body;
    expect(await audited(organization_id)).toEqual([
      {
        ...{ organization_id, actor_kind: 'user', actor_id: subject },
        ...{ action: 'organization.create', before: null, after: { name: subject } },
        request_id: first.headers['x-request-id'],
      },
    ]);
  });

  it('ignores the body, even if it is not JSON', async () => {
    const subject = newSubject();
    const { organization } = (await api.session(subject)('GET', '/v1/me')).body;
    for (const raw of ['{}', '{"name":""}', '{"color":1}', '[', 'null', '\u0000']) {
      const headers = {
        ...(await api.sessionHeaders(subject)),
        ...signatureOf('POST', PATH, raw),
      };
      const answer = await api.send({ method: 'POST', path: PATH, raw, headers });
      expect([answer.status, answer.body], raw).toEqual([200, organization]);
    }
  });

  it('creates one organization for a user’s first 50 concurrent requests', async () => {
    waitPatiently(api);
    const subject = newSubject();
    const call = api.session(subject);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? call('POST', PATH) : call('GET', PATH))),
    );
    expect(answers.map(codeOf)).toEqual(answers.map(() => '200'));
    const ids = answers.map(({ body }) => (body.items?.[0] ?? body).organization_id);
    expect(new Set(ids).size).toBe(1);
    const [count] = await api.db.query(
      `select (select count(*) from users where subject = $1) as users,
         (select count(*) from credit_grants where organization_id = $2) as grants,
         (select count(*) from organizations where name = $1) as organizations`,
      [subject, ids[0]],
    );
    expect(count).toEqual({ users: 1, grants: 1, organizations: 1 });
  });
});

describe('POST /v1/organizations by staff', () => {
  it('creates another organization on every call, with trial credits and an audit entry', async () => {
    const first = await staff('POST', PATH, { name: ' Acme ü ' });
    expect(first.status).toBe(201);
    expectRecord(organizationRecord, first.body);
    expect(first.body).toMatchObject({
      name: 'Acme ü',
      credit_balance: defaultPlans.trial.credits,
      quota_exceeded_at: null,
      billing_exempt: false,
    });
    const second = await staff('POST', PATH, { name: 'Acme ü' });
    const { organization_id } = first.body;
    expect(second.body.organization_id).not.toBe(organization_id);
    expect(await audited(organization_id)).toEqual([
      {
        organization_id,
        actor_kind: 'staff',
        actor_id: STAFF_SUBJECT,
        action: 'organization.create',
        before: null,
        after: { name: 'Acme ü' },
        request_id: first.headers['x-request-id'],
      },
    ]);
  });

  it('accepts no body, but requires a name in a body', async () => {
    const bare = await staff('POST', PATH);
    expect([bare.status, bare.body.name]).toEqual([201, 'New organization']);
    const wrong: [unknown, string][] = [
      [{}, 'name'],
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
      [{ name: 'x', plan: 'growth' }, 'plan'],
      [[], ''],
    ];
    for (const [body, path] of wrong) {
      const answer = await staff('POST', PATH, body);
      expect(codeOf(answer), JSON.stringify(body)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual([path]);
    }
  });

  it('creates an organization into which staff can put projects', async () => {
    const { organization_id } = (await staff('POST', PATH, { name: 'Acme' })).body;
    const project = { project_slug: newSubject().replace('_', '-'), organization_id };
    const made = await staff('POST', '/v1/projects', project);
    expect([made.status, made.body.organization_id]).toEqual([201, organization_id]);
  });

  it('returns the caller’s own organization while the staff API is disabled', async () => {
    api.change({ staff: { is_enabled: false, subjects: [STAFF_SUBJECT] } });
    const answer = await staff('POST', PATH, { name: 'Acme' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual((await staff('GET', '/v1/me')).body.organization);
  });
});

// Spec: Staff (incidents, access-requests); Public (status).
import { beforeEach, describe, expect, it } from 'vitest';
import { incidentRecord, statusRecord } from '../../../../../runtime/core/resources/incident.ts';
import { statusServices } from '../../../../../runtime/core/status.ts';
import type { Database } from '../../../../../runtime/db/client.ts';
import { insertIncident } from '../../../../../runtime/db/incidents.ts';
import { insertStatusSample } from '../../../../../runtime/db/status-samples.ts';
import { codeOf, expectRecord, issuesOf, newSubject } from '../../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../../support/api-server.ts';
import { id } from '../../../../support/rows.ts';

const api = useApi();
const staff = api.session(STAFF_SUBJECT);
const owner = api.session(newSubject());
const PATH = '/v1/staff/incidents';
const said = { title: 'Slow', services: ['render'], severity: 'minor', body: 'It is slow.' };
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);

beforeEach(() => api.db.query('delete from incidents'));

const open = async (body: object = said) => (await staff('POST', PATH, body)).body;
const patch = (incident_id: string, body: unknown) =>
  staff('PATCH', `${PATH}/${incident_id}`, body);
const automatic = () =>
  insertIncident(api.db, {
    incident_id: id('inc'),
    title: 'api fails',
    services: ['api'],
    severity: 'major',
    body: '',
    automatic: true,
    started_at: new Date(),
  });

describe('an incident', () => {
  it('can be opened, changed, ended and reopened by staff', async () => {
    const answer = await staff('POST', PATH, said);
    expect(answer.status).toBe(201);
    expectRecord(incidentRecord, answer.body);
    expect(answer.body).toMatchObject({ ...said, automatic: false, ended_at: null });
    const { incident_id } = answer.body;
    const ended_at = new Date(Date.now() + 1000).toISOString();
    expect((await patch(incident_id, { ended_at, body: 'Over.' })).body).toMatchObject({
      ended_at,
      body: 'Over.',
    });
    expect((await patch(incident_id, { ended_at: null })).body).toMatchObject({
      ended_at: null,
      body: 'Over.',
    });
    expect((await patch(incident_id, {})).body.body).toBe('Over.');
  });

  it('is neither changed nor audited if it already has the values sent', async () => {
    const { incident_id } = await open();
    const ended_at = new Date(Date.now() + 1000).toISOString();
    const { body } = await patch(incident_id, { ended_at });
    for (const same of [{}, { ended_at }, { body: said.body, ended_at }])
      expect((await patch(incident_id, same)).body).toEqual(body);
    const { items } = (await staff('GET', `/v1/staff/audit?target=${incident_id}`)).body;
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'incident.update',
      'incident.create',
    ]);
  });

  it('starts at the time that staff give', async () => {
    const started_at = ago(3).toISOString();
    expect((await open({ ...said, started_at })).started_at).toBe(started_at);
  });

  it('returns 409 incident_automatic for a change if it is automatic', async () => {
    const { incident_id } = await automatic();
    expect(codeOf(await patch(incident_id, { body: 'x' }))).toBe('409 incident_automatic');
    expect(codeOf(await patch('inc_none', { body: 'x' }))).toBe('404 not_found');
  });

  it('cannot end before it started, and the error names ended_at', async () => {
    const { incident_id } = await open();
    const answer = await patch(incident_id, { ended_at: ago(1).toISOString() });
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual(['ended_at']);
  });

  it.each([
    [{}, ['title', 'services', 'severity', 'body']],
    [{ ...said, services: [] }, ['services']],
    [{ ...said, severity: 'odd' }, ['severity']],
    [{ ...said, started_at: 'yesterday' }, ['started_at']],
    [{ ...said, automatic: true }, ['automatic']],
  ])('is rejected for %j, naming every wrong field', async (body, fields) => {
    const answer = await staff('POST', PATH, body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer).toSorted()).toEqual(fields.toSorted());
  });

  it('is listed newest first, and filtered by active_since', async () => {
    const old = await open({ ...said, title: 'Old', started_at: ago(50).toISOString() });
    await patch(old.incident_id, { ended_at: ago(48).toISOString() });
    const now = await open();
    const titles = async (query: string) =>
      (await staff('GET', `${PATH}${query}`)).body.items.map(
        (item: { title: string }) => item.title,
      );
    expect(await titles('')).toEqual(['Slow', 'Old']);
    const since = (hours: number) =>
      `?active_since=${encodeURIComponent(ago(hours).toISOString())}`;
    expect(await titles(since(1))).toEqual([now.title]);
    expect(await titles(since(49))).toEqual(['Slow', 'Old']);
    const iso = ago(49).toISOString();
    expect(await titles(`?active_since=${iso.replace('Z', '+00:00')}`)).toEqual(['Slow', 'Old']);
    expect(await titles(`?active_since=${iso.slice(0, 10)}`)).toEqual(['Slow', 'Old']);
    expect(issuesOf(await staff('GET', `${PATH}?active_since=soon`))).toEqual(['active_since']);
  });
});

describe('the public status', () => {
  const status = () => api.anonymous('GET', '/v1/public/status');

  it('can be read by anyone and cached for 30 seconds, with a day of samples per service', async () => {
    await api.db.query('delete from status_samples');
    const sample = { service: 'render', ok: false, duration_ms: 9 };
    await insertStatusSample(api.db, { ...sample, sampled_at: ago(25) });
    await insertStatusSample(api.db, { ...sample, sampled_at: ago(2) });
    await insertStatusSample(api.db, { ...sample, ok: true, sampled_at: ago(1) });
    const answer = await status();
    expectRecord(statusRecord, answer.body);
    expect(answer.headers['cache-control']).toBe('public, max-age=30');
    const services: { service: string; samples: { ok: boolean }[] }[] = answer.body.services;
    expect(services.map(({ service }) => service)).toEqual(Object.keys(statusServices));
    const render = services.find(({ service }) => service === 'render');
    expect(render?.samples.map(({ ok }) => ok)).toEqual([false, true]);
  });

  it('uses the clock of the database, even if the process clock is hours off', async () => {
    await api.db.query('delete from status_samples');
    for (const service of Object.keys(statusServices))
      await insertStatusSample(api.db, { service, ok: true, duration_ms: 9, sampled_at: ago(0) });
    for (const hours of [-3, 3]) {
      api.change({ clock: { now: () => ago(hours) } });
      const page = await (await fetch(`${api.deps().addresses.baseUrl}/status`)).text();
      expect(page).not.toContain('Unknown');
      const as_of = /As of <time datetime="([^"]*)/.exec(page)?.[1] ?? '';
      const { started_at } = await open();
      for (const at of [as_of, started_at])
        expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(600_000);
    }
  });

  it('reads the samples of a day only once until there are new ones', async () => {
    await api.db.query('delete from status_samples');
    const sampled = (hours: number) =>
      insertStatusSample(api.db, {
        service: 'api',
        ok: true,
        duration_ms: 9,
        sampled_at: ago(hours),
      });
    const samples = async () => (await status()).body.services[0].samples.length;
    let read = 0;
    const now = new Date();
    const query: Database['query'] = (text, values) => {
      if (text.includes('order by service, sampled_at')) read += 1;
      // Time stands still, because the samples are also read again in every new minute.
      if (text.includes('clock_timestamp()')) return [{ now }] as never;
      return api.db.query(text, values);
    };
    api.change({ db: { ...api.db, query } });
    await sampled(2);
    expect([await samples(), await samples(), read]).toEqual([1, 1, 1]);
    await sampled(1);
    expect([await samples(), await samples(), read]).toEqual([2, 2, 2]);
  });

  it('lists incidents that are open or ended within a week, manual and automatic', async () => {
    const old = await open({ ...said, title: 'Old', started_at: ago(400).toISOString() });
    await patch(old.incident_id, { ended_at: ago(24 * 8).toISOString() });
    await open();
    await automatic();
    const { body } = await status();
    expect(body.incidents.map((item: { title: string }) => item.title)).toEqual([
      'api fails',
      'Slow',
    ]);
  });

  it('lists an open incident, however many newer ones have ended', async () => {
    await open();
    await api.db.query(
      `insert into incidents (incident_id, title, services, severity, body, automatic, started_at, ended_at)
       select 'inc_' || n, 'Flapping', '{api}', 'minor', '', true, now() - interval '1 day', now() - interval '1 hour'
       from generate_series(1, 60) n`,
    );
    const { body } = await status();
    const titles: string[] = body.incidents.map(({ title }: { title: string }) => title);
    expect(titles).toHaveLength(50);
    // Newest first: the open incident is the oldest.
    expect(titles.indexOf('Slow')).toBe(49);
  });
});

describe('the staff audit log', () => {
  const trail = async (query: string) => (await staff('GET', `/v1/staff/audit?${query}`)).body;

  it('filters entries by target, action, request, actor and time, page by page', async () => {
    const { incident_id } = await open();
    await patch(incident_id, { body: 'Over.' });
    const both = await trail(`target=${incident_id}`);
    expect(both.items).toMatchObject([
      {
        action: 'incident.update',
        actor_kind: 'staff',
        actor_id: STAFF_SUBJECT,
        project_slug: null,
      },
      { action: 'incident.create', before: null, after: { title: 'Slow' } },
    ]);
    const [update, create] = both.items;
    for (const query of [
      'action=incident.create',
      `request_id=${create.request_id}`,
      `until=${encodeURIComponent(update.created_at)}&actor_kind=staff&actor_id=${STAFF_SUBJECT}`,
    ]) {
      const { items } = await trail(`${query}&target=${incident_id}`);
      expect(items.map((item: { audit_id: number }) => item.audit_id)).toEqual([create.audit_id]);
    }
    const first = await trail(`limit=1&target=${incident_id}`);
    const next = await trail(
      `limit=1&target=${incident_id}&cursor=${encodeURIComponent(first.next_cursor)}`,
    );
    expect(next).toMatchObject({ items: [{ audit_id: create.audit_id }], next_cursor: null });
  });

  it('filters entries by project, organization and time', async () => {
    const project_slug = `p-${newSubject().slice(5)}`;
    const { body } = await owner('POST', '/v1/projects', { project_slug });
    await owner('PATCH', `/v1/projects/${project_slug}`, { name: 'Renamed' });
    const actions = (items: { action: string }[]) => items.map(({ action }) => action);
    const expected = ['project.update', 'project.create'];
    expect(actions((await trail(`project_slug=${project_slug}`)).items)).toEqual(expected);
    expect(actions((await trail(`organization_id=${body.organization_id}`)).items)).toEqual([
      ...expected,
      'organization.create',
    ]);
    expect((await trail('since=2999-01-01T00:00:00Z')).items).toEqual([]);
    expect((await trail('since=2999-01-01T00:00:00+00:00')).items).toEqual([]);
    expect((await trail('until=1999-01-01')).items).toEqual([]);
    // A date means its midnight UTC, and `until` is exclusive: no entry of today is before it.
    const day = new Date().toISOString().slice(0, 10);
    expect((await trail(`since=${day}&until=${day}`)).items).toEqual([]);
    expect(codeOf(await staff('GET', '/v1/staff/audit?actor_kind=odd'))).toBe(
      '400 invalid_request',
    );
  });
});

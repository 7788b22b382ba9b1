// Spec: Usage (GET); Usage record; Metering.

import { beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../runtime/core/durations.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { usageRecord } from '../../../../runtime/core/resources/usage.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { takeDatabaseClock } from '../../../support/database-clock.ts';
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const now = new Date('2026-11-20T12:34:56.789Z');
let project: ProjectRecord;
let call: Caller;

beforeAll(async () => {
  // Usage follows the clock of the database, not that of the API's host.
  const clock = await takeDatabaseClock(api.databaseUrl(), api.db);
  project = await createProject(owner);
  call = api.withKey(await createKey(owner, project.project_slug, ['files:read']));
  await makeFile(api.db, project, { size_bytes: 700 });
  const { project_id } = project;
  await api.db.query(
    `insert into usage_hours (project_id, window_start, requests, bytes, transforms, credits)
     select $1, hour::timestamptz, 2, 3000, 1, 2 from unnest($2::text[]) hour`,
    [
      project_id,
      ['2026-11-18T23:00Z', '2026-11-19T00:00Z', '2026-11-19T10:00Z', '2026-11-20T00:00Z'],
    ],
  );
  await api.db.query(
    `insert into usage_days
       (project_id, day, requests, bytes, transforms, credits, charged_credits, hours_closed, finalized_at)
     values ($1, '2026-11-18', 2, 3000, 1, 2, 3, 24, '2026-11-20T00:20Z'),
       ($1, '2026-11-19', 4, 6000, 2, 4, 6, 22, null)`,
    [project_id],
  );
  await clock.set(now.toISOString());
});

const usage = (query = '', caller = call) =>
  caller('GET', `/v1/projects/${project.project_slug}/usage${query}`);

describe('GET /v1/staff/projects/{slug}/usage', () => {
  it('returns what the owner sees, for any project', async () => {
    const staff = api.session(STAFF_SUBJECT);
    const path = `/v1/staff/projects/${project.project_slug}/usage`;
    const query = '?from=2026-11-19&to=2026-11-19';
    const seen = await staff('GET', path + query);
    expect([seen.status, seen.body]).toEqual([200, (await usage(query)).body]);
    expect(seen.body.hourly).toHaveLength(2);
    expect(codeOf(await owner('GET', path))).toBe('403 staff_only');
    expect(codeOf(await staff('GET', '/v1/staff/projects/none/usage'))).toBe('404 not_found');
  });
});

describe('GET …/usage', () => {
  it('returns the last 30 days by default', async () => {
    const { status, body } = await usage();
    expect(status).toBe(200);
    expectRecord(usageRecord, body);
    expect(body).toMatchObject({
      project_slug: project.project_slug,
      from: new Date(now.getTime() - 30 * DAY_MS).toISOString(),
      to: now.toISOString(),
      range_capped: false,
      storage: { file_count: 1, storage_bytes: 700 },
      credit_balance: 1000,
      reconciled_through: '2026-11-20T09:00:00.000Z',
    });
    expect(body.hourly).toHaveLength(4);
    expect(body.hourly[0]).toMatchObject({
      window_start: '2026-11-18T23:00:00.000Z',
      requests: 2,
      bytes: 3000,
      transforms: 1,
      credits: 2,
    });
    const counters = { requests: 2, bytes: 3000, transforms: 1, credits: 2 };
    expect(body.daily).toEqual([
      {
        day: '2026-11-18',
        ...counters,
        charged_credits: 3,
        hours_closed: 24,
        finalized_at: '2026-11-20T00:20:00.000Z',
      },
      expect.objectContaining({ day: '2026-11-19', hours_closed: 22, finalized_at: null }),
    ]);
  });

  it('accepts dates and timestamps; a date in to includes that day, a timestamp is exclusive', async () => {
    const of = async (query: string) => {
      const { body } = await usage(query);
      return [
        body.from,
        body.to,
        body.hourly.map((hour: { window_start: string }) => hour.window_start.slice(8, 13)),
        body.daily.map((day: { day: string }) => day.day.slice(8)),
      ];
    };
    expect(await of('?from=2026-11-19&to=2026-11-19')).toEqual([
      '2026-11-19T00:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
      ['19T00', '19T10'],
      ['19'],
    ]);
    expect(await of('?from=2026-11-18T23:00:00Z&to=2026-11-19T10:00:00Z')).toEqual([
      '2026-11-18T23:00:00.000Z',
      '2026-11-19T10:00:00.000Z',
      ['18T23', '19T00'],
      ['18', '19'],
    ]);
    expect((await of('?from=2026-11-19T02:00:00%2B02:00'))[0]).toBe('2026-11-19T00:00:00.000Z');
    expect((await of('?from=2026-11-19T02:00:00+02:00'))[0]).toBe('2026-11-19T00:00:00.000Z');
  });

  it('shortens a range of more than 90 days at its beginning, and sets range_capped', async () => {
    const { body } = await usage('?from=2026-01-01&to=2026-11-19');
    expect(body).toMatchObject({
      from: '2026-08-22T00:00:00.000Z',
      to: '2026-11-20T00:00:00.000Z',
      range_capped: true,
    });
    const exact = await usage('?from=2026-08-22&to=2026-11-19');
    expect(exact.body.range_capped).toBe(false);
  });

  it('accepts a timestamp without seconds, and the earliest and latest possible dates', async () => {
    const rows: [string, string, string][] = [
      [
        '?from=2026-11-19T10:31Z&to=2026-11-20',
        '2026-11-19T10:31:00.000Z',
        '2026-11-21T00:00:00.000Z',
      ],
      ['?to=0001-01-01', '0001-01-01T00:00:00.000Z', '0001-01-02T00:00:00.000Z'],
      ['?from=9998-12-31&to=9998-12-31', '9998-12-31T00:00:00.000Z', '9999-01-01T00:00:00.000Z'],
    ];
    for (const [query, from, to] of rows) {
      const { status, body } = await usage(query);
      expect(status, query).toBe(200);
      expectRecord(usageRecord, body);
      expect([body.from, body.to]).toEqual([from, to]);
    }
  });

  it('rejects an invalid time, and a from after to', async () => {
    const rows: [string, string][] = [
      ['?from=yesterday', 'from'],
      ['?to=2026-13-01', 'to'],
      ['?to=2026-02-30', 'to'],
      ['?from=2026-11-19&from=2026-11-20', 'from'],
      ['?from=', 'from'],
      ['?from=%00', 'from'],
      ['?from=2026-11-20T00:00:01Z&to=2026-11-20T00:00:00Z', 'from'],
      ['?from=2026-11-21&to=2026-11-20', 'from'],
      ['?from=2026-12-01', 'from'],
      ['?from=0000-01-01', 'from'],
      ['?to=0000-01-01T00:00Z', 'to'],
      ['?to=9999-12-31', 'to'],
    ];
    for (const [query, field] of rows) {
      const answer = await usage(query);
      expect(codeOf(answer), query).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual([field]);
    }
  });

  it('returns the same to a session', async () => {
    expect((await usage('', owner)).body).toEqual((await usage()).body);
  });
});

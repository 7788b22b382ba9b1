import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import { findOrganization } from '../../../runtime/db/organizations.ts';
import { insertPricing } from '../../../runtime/db/project-pricing.ts';
import { insertUsageBatch, type UsageBatchEntry } from '../../../runtime/db/usage-batches.ts';
import { listUsageDays, type UsageDayRow } from '../../../runtime/db/usage-days.ts';
import { listUsageHours } from '../../../runtime/db/usage-hours.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { countBalance } from '../../support/count-balance.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeOrganization, makeProject, must } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 16 });
const rollup = table['hourly-rollup'];
const charge = table['daily-charge'];
const NOON = new Date('2026-11-20T12:00:00Z');
const CHARGE = new Date('2026-11-20T00:20:00Z');
let jobs: TestJobs;
let sequences = 0;

beforeAll(async () => {
  jobs = await makeJobs(db);
  jobs.clock.set(NOON);
});
afterAll(() => jobs.close());

type Tenant = { organization_id: string; project_ids: string[] };

async function makeTenant(options: {
  credits: number;
  projects: number;
  callback?: true;
}): Promise<Tenant> {
  const { organization_id } = await makeOrganization(db);
  await grant(organization_id, options.credits);
  const project_ids: string[] = [];
  for (let n = 0; n < options.projects; n += 1) {
    const { project_id } = await makeProject(db, { organization_id });
    project_ids.push(project_id);
    if (options.callback) {
      await db.query(
        `update projects set callback_url = 'https://hook.example/', callback_secret_sealed = '\\x00' where project_id = $1`,
        [project_id],
      );
    }
  }
  return { organization_id, project_ids };
}

function grant(organization_id: string, credits: number) {
  sequences += 1;
  const external_id = `grant-${sequences}`;
  return insertCreditGrant(db, { organization_id, credits, source: 'staff', external_id });
}

function hour(day: string, number: number): Date {
  return new Date(`${day}T${String(number).padStart(2, '0')}:00:00Z`);
}

function usage(project_id: string, window_start: Date, credits: number): UsageBatchEntry {
  return { project_id, window_start, requests: 1, bytes: credits * 1000, transforms: 1, credits };
}

function send(...entries: UsageBatchEntry[]): Promise<boolean> {
  sequences += 1;
  return insertUsageBatch(db, { spool_id: 'test', sequence: sequences, entries });
}

async function balanceOf({ organization_id }: Tenant): Promise<number> {
  const organization = must(await findOrganization(db, organization_id));
  expect(organization.credit_balance).toBe(await countBalance(db, organization_id));
  return organization.credit_balance;
}

async function eventsOf({ project_ids }: Tenant): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'select delivery_id from webhook_deliveries where project_id = any($1) order by delivery_id',
    [project_ids],
  );
  return rows.map((row) => row.delivery_id);
}

async function dayOf(project_id: string, day: string): Promise<UsageDayRow | undefined> {
  return (await listUsageDays(db, { project_id, from: day, to: day }))[0];
}

describe('the hourly rollup', () => {
  it('sums each hour over all of its batches, and again after a late one', async () => {
    const { project_ids } = await makeTenant({ credits: 1, projects: 2 });
    const [one = '', other = ''] = project_ids;
    const at = hour('2026-11-20', 10);
    await send(usage(one, at, 3), usage(other, at, 5));
    await send(usage(one, at, 4), usage(one, hour('2026-11-20', 11), 1));
    await jobs.run(rollup);
    await send(usage(one, hour('2026-11-02', 4), 9));
    await jobs.run(rollup);
    await jobs.run(rollup);
    const range = { project_ids, from: hour('2026-11-01', 0), to: hour('2026-11-21', 0) };
    const hours = await listUsageHours(db, range);
    const sums = hours.map((row) => [
      row.project_id === one,
      row.window_start.toISOString(),
      row.credits,
    ]);
    expect(sums.toSorted()).toEqual(
      [
        [true, '2026-11-02T04:00:00.000Z', 9],
        [true, '2026-11-20T10:00:00.000Z', 7],
        [true, '2026-11-20T11:00:00.000Z', 1],
        [false, '2026-11-20T10:00:00.000Z', 5],
      ].toSorted(),
    );
    expect(hours.find((row) => row.credits === 7)).toMatchObject({ requests: 2, bytes: 7000 });
  });

  it('does not recompute an hour whose batches retention may have deleted', async () => {
    const { project_ids } = await makeTenant({ credits: 1, projects: 1 });
    const [project_id = ''] = project_ids;
    const old = hour('2026-10-10', 4);
    await db.query(
      `insert into usage_hours (project_id, window_start, requests, bytes, transforms, credits) values ($1, $2, 9, 9, 9, 9)`,
      [project_id, old],
    );
    await send(usage(project_id, old, 1));
    await jobs.run(rollup);
    const hours = await listUsageHours(db, { project_ids, from: old, to: NOON });
    expect(hours.map((row) => row.credits)).toEqual([9]);
  });
});

describe('the daily charge', () => {
  it('charges a day once, raises it for late events and refunds a correction', async () => {
    const tenant = await makeTenant({ credits: 1000, projects: 1 });
    const [project_id = ''] = tenant.project_ids;
    await send(usage(project_id, hour('2026-11-19', 5), 100));
    await jobs.run(rollup);
    await jobs.run(charge, CHARGE);
    await jobs.run(charge, CHARGE);
    expect(await balanceOf(tenant)).toBe(900);
    await send(usage(project_id, hour('2026-11-19', 23), 7));
    await jobs.run(rollup);
    await jobs.run(charge, CHARGE);
    expect(await balanceOf(tenant)).toBe(893);
    await db.query('delete from usage_batch_rows where project_id = $1 and credits = 100', [
      project_id,
    ]);
    await db.query('delete from usage_hours where project_id = $1 and credits = 100', [project_id]);
    await jobs.run(charge, CHARGE);
    expect(await balanceOf(tenant)).toBe(993);
    const ledger = await db.query<{ delta: number }>(
      'select delta from ledger where project_id = $1 order by entry_id',
      [project_id],
    );
    expect(ledger.map((entry) => entry.delta)).toEqual([100, 7, -100]);
    expect(await dayOf(project_id, '2026-11-19')).toMatchObject({ credits: 7, charged_credits: 7 });
  });

  it('charges all other organizations if one cannot be charged, and fails', async () => {
    const tenants: Tenant[] = [];
    for (let n = 0; n < 3; n += 1) {
      const tenant = await makeTenant({ credits: 1000, projects: 1 });
      await send(usage(tenant.project_ids[0] ?? '', hour('2026-11-19', 5), 100));
      tenants.push(tenant);
    }
    await jobs.run(rollup);
    const stuck = tenants[1]?.organization_id;
    await db.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
       create trigger stuck before insert on ledger for each row when (new.organization_id = '${stuck}')
       execute function refuse()`,
    );
    await expect(jobs.run(charge, CHARGE)).rejects.toThrow(
      '1 of the organizations could not be charged',
    );
    const balances = async () => Promise.all(tenants.map(balanceOf));
    expect(await balances()).toEqual([900, 1000, 900]);
    await db.query('drop trigger stuck on ledger; drop function refuse');
    await jobs.run(charge, CHARGE);
    expect(await balances()).toEqual([900, 900, 900]);
  });

  it('does not charge today or days before the last three', async () => {
    const tenant = await makeTenant({ credits: 1000, projects: 1 });
    const [project_id = ''] = tenant.project_ids;
    await send(
      usage(project_id, hour('2026-11-20', 0), 100),
      usage(project_id, hour('2026-11-16', 23), 50),
    );
    await jobs.run(rollup);
    await jobs.run(charge, CHARGE);
    expect(await balanceOf(tenant)).toBe(1000);
    await jobs.run(charge, new Date('2026-11-19T00:20:00Z'));
    expect(await balanceOf(tenant)).toBe(950);
  });

  it('closes hours as they become final, and finalizes a day once all are closed', async () => {
    const tenant = await makeTenant({ credits: 1000, projects: 1 });
    const [project_id = ''] = tenant.project_ids;
    await send(usage(project_id, hour('2026-11-19', 5), 1));
    await jobs.run(rollup);
    await jobs.run(charge, CHARGE);
    const first = await dayOf(project_id, '2026-11-19');
    expect(first).toMatchObject({ hours_closed: 22, finalized_at: null });
    await jobs.run(charge, new Date('2026-11-21T00:20:00Z'));
    const second = await dayOf(project_id, '2026-11-19');
    expect(second).toMatchObject({ hours_closed: 24, finalized_at: expect.any(Date) });
    await jobs.run(charge, CHARGE);
    expect(await dayOf(project_id, '2026-11-19')).toMatchObject({
      hours_closed: 24,
      finalized_at: second?.finalized_at,
    });
  });

  it('charges a finalized day again for late usage', async () => {
    const tenant = await makeTenant({ credits: 1000, projects: 1 });
    const [project_id = ''] = tenant.project_ids;
    await send(usage(project_id, hour('2026-11-17', 5), 5));
    await jobs.run(rollup);
    await jobs.run(charge, new Date('2026-11-19T00:20:00Z'));
    const final = await dayOf(project_id, '2026-11-17');
    expect(final).toMatchObject({ charged_credits: 5, finalized_at: expect.any(Date) });
    await send(usage(project_id, hour('2026-11-17', 6), 7));
    await jobs.run(rollup);
    await jobs.run(charge, CHARGE);
    const { finalized_at } = must(final);
    const again = await dayOf(project_id, '2026-11-17');
    expect(again).toMatchObject({ charged_credits: 12, finalized_at });
  });

  it('closes no hour that is not over, even when run as if on a later day', async () => {
    const tenant = await makeTenant({ credits: 1000, projects: 1 });
    const [project_id = ''] = tenant.project_ids;
    await send(usage(project_id, hour('2026-11-19', 5), 1));
    await jobs.run(rollup);
    const deps = { ...jobs.deps, clock: { now: () => new Date('2026-11-19T12:00:00Z') } };
    const signal = new AbortController().signal;
    await charge.run({ ...deps, at: new Date('2026-11-21T00:20:00Z'), run: 'ahead', signal });
    const day = await dayOf(project_id, '2026-11-19');
    expect(day).toMatchObject({ charged_credits: 1, hours_closed: 10, finalized_at: null });
  });

  it('uses the multiplier in force in each hour, and rounds up the day as a whole', async () => {
    const tenant = await makeTenant({ credits: 1000, projects: 1 });
    const [project_id = ''] = tenant.project_ids;
    const from = hour('2026-11-19', 12);
    await insertPricing(db, { project_id, effective_from: from, pricing_multiplier: '1.1' });
    await send(usage(project_id, hour('2026-11-19', 11), 10));
    await send(
      usage(project_id, hour('2026-11-19', 12), 10),
      usage(project_id, hour('2026-11-19', 13), 7),
    );
    await jobs.run(rollup);
    await jobs.run(charge, CHARGE);
    expect(await balanceOf(tenant)).toBe(1000 - Math.ceil(10 + 11 + 7.7));
  });

  it('never bills an hour that overlaps an exemption, even after it has ended', async () => {
    const tenant = await makeTenant({ credits: 1000, projects: 1 });
    const [project_id = ''] = tenant.project_ids;
    for (const number of [9, 10, 11, 12])
      await send(usage(project_id, hour('2026-11-18', number), 10));
    await db.query(
      `insert into organization_exemptions values ($1, '2026-11-18T10:59:59Z', '2026-11-18T11:00:01Z')`,
      [tenant.organization_id],
    );
    await jobs.run(rollup);
    await jobs.run(charge, CHARGE);
    expect(await balanceOf(tenant)).toBe(980);
    expect(await dayOf(project_id, '2026-11-18')).toMatchObject({
      credits: 40,
      charged_credits: 20,
    });
  });

  it('sets quota_exceeded_at at a zero balance, and tells each project with a callback URL once', async () => {
    const tenant = await makeTenant({ credits: 30, projects: 3, callback: true });
    const [first = '', second = '', silent = ''] = tenant.project_ids;
    await db.query(
      'update projects set callback_url = null, callback_secret_sealed = null where project_id = $1',
      [silent],
    );
    await send(usage(first, hour('2026-11-19', 1), 10), usage(silent, hour('2026-11-19', 1), 20));
    await jobs.run(rollup);
    const runs = [1, 2, 3].map(() => jobs.run(charge, CHARGE));
    await Promise.all(runs);
    const organization = must(await findOrganization(db, tenant.organization_id));
    expect(organization).toMatchObject({ credit_balance: 0, quota_exceeded_at: expect.any(Date) });
    const { organization_id } = tenant;
    // The event has the day on which it happened, whatever time the charge was run for.
    const day = organization.updated_at.toISOString().slice(0, 10);
    const ids = [first, second].map((id) => `quota.exceeded:${organization_id}:${id}:${day}`);
    expect(await eventsOf(tenant)).toEqual(ids.sort());
    const [row] = await db.query<{ body: string }>(
      'select body from webhook_deliveries where delivery_id = $1',
      [ids[0]],
    );
    expect(JSON.parse(row?.body ?? '')).toMatchObject({
      id: ids[0],
      event: 'quota.exceeded',
      data: {
        organization_id,
        day,
        credit_balance: 0,
        quota_exceeded_at: organization.quota_exceeded_at?.toISOString(),
      },
    });
  });

  it('restores the quota if a correction brings the balance above zero, with numbered event ids', async () => {
    const tenant = await makeTenant({ credits: 10, projects: 1, callback: true });
    const [project_id = ''] = tenant.project_ids;
    for (let round = 0; round < 2; round += 1) {
      await send(usage(project_id, hour('2026-11-19', 3), 15));
      await jobs.run(rollup);
      await jobs.run(charge, CHARGE);
      await db.query('delete from usage_batch_rows where project_id = $1', [project_id]);
      await db.query(
        'update usage_hours set requests = 0, transforms = 0, credits = 0 where project_id = $1',
        [project_id],
      );
      await jobs.run(charge, CHARGE);
      await db.query('delete from usage_hours where project_id = $1', [project_id]);
    }
    const ids = await eventsOf(tenant);
    const { updated_at, quota_exceeded_at } = must(
      await findOrganization(db, tenant.organization_id),
    );
    expect(quota_exceeded_at).toBeNull();
    const day = updated_at.toISOString().slice(0, 10);
    const subject = `${tenant.organization_id}:${project_id}:${day}`;
    expect(ids.sort()).toEqual(
      [
        `quota.exceeded:${subject}`,
        `quota.exceeded:${subject}:2`,
        `quota.restored:${subject}`,
        `quota.restored:${subject}:2`,
      ].sort(),
    );
  });

  it('marks an organization without credits and usage as over quota, but not an exempt one', async () => {
    const empty = await makeOrganization(db);
    const exempt = await makeOrganization(db);
    await db.query('update organizations set billing_exempt = true where organization_id = $1', [
      exempt.organization_id,
    ]);
    await jobs.run(charge, CHARGE);
    expect((await findOrganization(db, empty.organization_id))?.quota_exceeded_at).not.toBeNull();
    expect((await findOrganization(db, exempt.organization_id))?.quota_exceeded_at).toBeNull();
  });
});

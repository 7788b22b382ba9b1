import { describe, expect, it } from 'vitest';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import { insertLedgerEntry } from '../../../runtime/db/ledger.ts';
import { findOrganization, lockOrganization } from '../../../runtime/db/organizations.ts';
import {
  deleteOldUsageBatches,
  insertUsageBatch,
  listHoursTouched,
} from '../../../runtime/db/usage-batches.ts';
import { foldUsageDay, listUsageDays } from '../../../runtime/db/usage-days.ts';
import {
  foldUsageHours,
  listProjectsWithUsage,
  listUsageHours,
} from '../../../runtime/db/usage-hours.ts';
import { countBalance } from '../../support/count-balance.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 20 });
const times = (count: number) => Array.from({ length: count }, (_, index) => index);

const hour = (at: string) => new Date(`2026-03-0${at}:00:00.000Z`);
const range = { from: hour('1T00'), to: hour('4T00') };
const HOURS = ['1T10', '1T11', '1T23', '2T00', '2T05', '2T23', '3T00'].map(hour);
const entry = (project_id: string, window_start: Date, requests: number) => ({
  project_id,
  window_start,
  requests,
  bytes: requests * 1000,
  transforms: 1,
  credits: requests * 2,
});

describe('usage', () => {
  it('that arrives twice counts once', async () => {
    const { project_id } = await makeProject(db);
    const batch = {
      spool_id: 'spl_twice',
      sequence: 1,
      entries: [entry(project_id, hour('1T10'), 3), entry(project_id, hour('1T11'), 1)],
    };
    const isNew = await Promise.all(times(10).map(() => insertUsageBatch(db, batch)));
    expect(isNew.filter(Boolean)).toHaveLength(1);
    await foldUsageHours(db, HOURS);
    const hours = await listUsageHours(db, { project_ids: [project_id], ...range });
    expect(hours.map((row) => [row.window_start, row.requests, row.credits])).toEqual([
      [hour('1T10'), 3, 6],
      [hour('1T11'), 1, 2],
    ]);
  });

  it('is the sum of all batches, whatever their order and however often it is folded', async () => {
    const { project_id } = await makeProject(db);
    for (const sequence of [3, 1, 2]) {
      const entries = [entry(project_id, hour('2T05'), sequence)];
      await insertUsageBatch(db, { spool_id: 'spl_order', sequence, entries });
      await foldUsageHours(db, HOURS);
    }
    expect(await foldUsageHours(db, HOURS)).toBe(0);
    const [row] = await listUsageHours(db, { project_ids: [project_id], ...range });
    expect(row).toMatchObject({ requests: 6, bytes: 6000, transforms: 3, credits: 12 });
  });

  it('of a day is summed by UTC, and final once all of its hours are closed', async () => {
    const { project_id, organization_id } = await makeProject(db);
    const entries = [
      entry(project_id, hour('1T23'), 1),
      entry(project_id, hour('2T00'), 2),
      entry(project_id, hour('2T23'), 4),
      entry(project_id, hour('3T00'), 8),
    ];
    await insertUsageBatch(db, { spool_id: 'spl_day', sequence: 1, entries });
    await foldUsageHours(db, HOURS);
    const day = '2026-03-02';
    await foldUsageDay(db, { project_id, day, charged_credits: 12, hours_closed: 20 });
    const list = { project_id, from: '2026-03-01', to: '2026-03-03' };
    const [open] = await listUsageDays(db, list);
    expect(open).toMatchObject({ day, requests: 6, credits: 12, finalized_at: null });
    await foldUsageDay(db, { project_id, day, charged_credits: 12, hours_closed: 24 });
    const [closed] = await listUsageDays(db, list);
    expect(closed?.finalized_at).toBeInstanceOf(Date);
    const used = await listProjectsWithUsage(db, { ...range, after: '', limit: 100 });
    expect(used).toContainEqual({ project_id, organization_id });
    expect(await listProjectsWithUsage(db, { ...range, after: project_id, limit: 100 })).toEqual(
      [],
    );
  });

  it('is found in batches that do not list their hours, as those of an older version', async () => {
    const { project_id } = await makeProject(db);
    const entries = [entry(project_id, hour('3T07'), 1)];
    await insertUsageBatch(db, { spool_id: 'spl_untold', sequence: 1, entries });
    await db.query(`update usage_batches set hours = null where spool_id = 'spl_untold'`);
    const all = { mark: undefined, until: Number.MAX_SAFE_INTEGER };
    const touched = await listHoursTouched(db, { ...all, from: hour('3T07') });
    expect(touched).toContainEqual(hour('3T07'));
  });

  it('is deleted by batch, and only once all hours of the batch are old', async () => {
    const { project_id } = await makeProject(db);
    const old = [entry(project_id, hour('1T10'), 1)];
    const mixed = [entry(project_id, hour('1T10'), 1), entry(project_id, hour('3T00'), 1)];
    await insertUsageBatch(db, { spool_id: 'spl_old', sequence: 1, entries: old });
    await insertUsageBatch(db, { spool_id: 'spl_old', sequence: 2, entries: mixed });
    await db.query(`update usage_batches set received_at = '2026-03-01T11:00Z'`);
    await deleteOldUsageBatches(db, hour('3T00'));
    const left = await db.query<{ sequence: number }>(
      `select sequence from usage_batches where spool_id = 'spl_old'`,
    );
    expect(left).toEqual([{ sequence: 2 }]);
  });
});

describe('the ledger', () => {
  it('charges only the difference, and once, whatever the order and number of runs', async () => {
    const { project_id, organization_id } = await makeProject(db);
    await insertCreditGrant(db, {
      organization_id,
      credits: 1000,
      source: 'staff',
      external_id: organization_id,
    });
    const charge = (run: string, charged_credits: number) =>
      db.transaction(async (tx) => {
        await lockOrganization(tx, organization_id);
        return insertLedgerEntry(tx, {
          organization_id,
          project_id,
          day: '2026-03-02',
          run,
          charged_credits,
        });
      });
    const balance = async () => (await findOrganization(db, organization_id))?.credit_balance;
    const first = await Promise.all(times(12).map((index) => charge(`run-${index}`, 100)));
    expect(first.filter((delta) => delta !== 0)).toEqual([100]);
    expect(await balance()).toBe(900);
    expect(await charge('late', 130)).toBe(30);
    expect(await charge('late', 150)).toBe(0);
    expect(await charge('correction', 40)).toBe(-90);
    expect(await balance()).toBe(960);
    expect(await countBalance(db, organization_id)).toBe(960);
  });

  it('lets usage take the balance below zero', async () => {
    const { project_id, organization_id } = await makeProject(db);
    await db.transaction((tx) =>
      insertLedgerEntry(tx, {
        organization_id,
        project_id,
        day: '2026-03-02',
        run: 'r',
        charged_credits: 7,
      }),
    );
    expect((await findOrganization(db, organization_id))?.credit_balance).toBe(-7);
  });
});

// Spec: Staff (reconciliation); Metering.

import { beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../../runtime/core/durations.ts';
import { hourOf } from '../../../../../runtime/core/metering.ts';
import type { ProjectRecord } from '../../../../../runtime/core/resources/project.ts';
import {
  type ReconciledDayRecord,
  reconciledDayRecord,
} from '../../../../../runtime/core/resources/reconciliation.ts';
import { insertUsageBatch } from '../../../../../runtime/db/usage-batches.ts';
import { codeOf, createProject, expectRecord, newSubject } from '../../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../../support/api-server.ts';

const api = useApi();
const staff = api.session(STAFF_SUBJECT);
const PATH = '/v1/staff/reconciliation';
let project: ProjectRecord;
let sequence = 0;

beforeEach(async () => {
  project = await createProject(api.session(newSubject()));
});

const ago = (days: number) => new Date(Date.now() - days * DAY_MS);
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

async function deliver({ project_id }: ProjectRecord, at: Date, credits: number) {
  sequence += 1;
  const sums = { requests: 1, bytes: 5, transforms: 1, credits };
  const entries = [{ project_id, window_start: hourOf(at), ...sums }];
  await insertUsageBatch(api.db, { spool_id: 'spl_reconciliation', sequence, entries });
}
const report = async (query = `?project_slug=${project.project_slug}`) => {
  const { body } = await staff('GET', `${PATH}${query}`);
  return body.items as ReconciledDayRecord[];
};

describe('the reconciliation report', () => {
  it('covers the last seven days including today, oldest first, even without any delivery', async () => {
    const days = await report();
    for (const day of days) expectRecord(reconciledDayRecord, day);
    expect(days.map(({ day }) => day)).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => dayOf(ago(n))));
    expect(days.every(({ requests, differences }) => requests + differences.length === 0)).toBe(
      true,
    );
  });

  it('shows deliveries that were not rolled up, with advice on what to do', async () => {
    await deliver(project, ago(1), 7);
    const day = (await report()).find((one) => one.day === dayOf(ago(1)));
    expect(day).toMatchObject({ requests: 1, batched_credits: 7, rolled_up_credits: 0 });
    expect(day?.differences).toEqual([
      { cause: 'not_rolled_up', credits: 7, advice: expect.stringContaining('hourly-rollup') },
    ]);
  });

  it('sums up all projects if none is given', async () => {
    const before = (await report('')).at(-1)?.batched_credits ?? 0;
    await deliver(project, ago(0), 3);
    await deliver(await createProject(api.session(newSubject())), ago(0), 4);
    const today = (await report('')).at(-1);
    expect(today?.batched_credits).toBe(before + 7);
    const unsummed = today?.differences.find(({ cause }) => cause === 'not_rolled_up');
    expect(unsummed?.credits).toBe(today?.batched_credits);
    expect((await report()).at(-1)?.batched_credits).toBe(3);
  });

  it('shows missing batches and lost deliveries, whichever project is requested', async () => {
    const spool_id = 'spl_losing';
    await insertUsageBatch(api.db, { spool_id, sequence: 1, entries: [], lost_deliveries: 5 });
    await insertUsageBatch(api.db, { spool_id, sequence: 4, entries: [] });
    for (const days of [await report(), await report('')]) {
      expect(days.at(-1)).toMatchObject({ missing_batches: 2, lost_deliveries: 5 });
      expect(days.at(-2)).toMatchObject({ missing_batches: 0, lost_deliveries: 0 });
    }
  });

  it('returns 404 not_found for a nonexistent project', async () => {
    expect(codeOf(await staff('GET', `${PATH}?project_slug=none`))).toBe('404 not_found');
  });
});

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import { findOrganization } from '../../../runtime/db/organizations.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { countBalance } from '../../support/count-balance.ts';
import { useDatabase } from '../../support/database.ts';
import { makeOrganization, makeProject, must } from '../../support/rows.ts';

const { db, url } = useDatabase();
const program = new URL('../../support/killed-metering.ts', import.meta.url).pathname;

/** Runs a process that kills itself before statement n. Returns whether it finished first. */
async function runUntilStatement(n: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, url(), String(n)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await text(child.stdout)).includes('done');
}

it('a rollup and charge killed between statements keep balance and ledger equal, and are completed later', {
  timeout: 120_000,
}, async () => {
  const { organization_id } = await makeOrganization(db);
  await insertCreditGrant(db, { organization_id, credits: 100, source: 'staff', external_id: 'g' });
  let usage = 0;
  const deliver = async (project_id: string, n: number) => {
    const sum = { requests: 1, bytes: 1, transforms: 0, credits: 10 };
    const window_start = new Date(`2026-11-1${7 + (n % 3)}T05:00:00Z`);
    const entries = [{ ...sum, project_id, window_start }];
    await insertUsageBatch(db, { spool_id: project_id, sequence: n, entries });
    usage += 10;
  };
  const projects = [
    await makeProject(db, { organization_id }),
    await makeProject(db, { organization_id }),
  ];
  let isDone = false;
  for (let n = 1; !isDone; n += 3) {
    for (const { project_id } of projects) await deliver(project_id, n);
    isDone = await runUntilStatement(n);
    const { credit_balance } = must(await findOrganization(db, organization_id));
    expect(credit_balance).toBe(await countBalance(db, organization_id));
    expect(credit_balance).toBeGreaterThanOrEqual(100 - usage);
  }
  const after = must(await findOrganization(db, organization_id));
  expect(after.credit_balance).toBe(100 - usage);
  expect(after.quota_exceeded_at).not.toBeNull();
});

// Spec: Organization quota; Events (only while there is a callback URL; nothing is back-filled).
import { beforeEach, describe, expect, it } from 'vitest';
import { changeCallback } from '../../../runtime/actions/change-callback.ts';
import { changeProject } from '../../../runtime/actions/change-project.ts';
import { updateQuotaStatus } from '../../../runtime/actions/update-quota-status.ts';
import type { Transaction } from '../../../runtime/db/client.ts';
import { lockProject } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
import { must } from '../../support/rows.ts';
import { makeCallbackProject, sealing } from '../../support/webhooks.ts';

const { db } = useDatabase();
const OLD = 'https://1.1.1.1/old';
const NEW = 'https://1.1.1.1/new';
let organization_id: string;
let project_id: string;

beforeEach(async () => {
  const project = await makeCallbackProject(db, { url: OLD, secret: 'whsec_1' });
  ({ organization_id, project_id } = project);
});

/** Exceeds the quota, because the organization never had credits. */
const settle = (tx: Transaction) => updateQuotaStatus(tx, organization_id);

const change = (url: string | null) => async (tx: Transaction) => {
  const project = must(await lockProject(tx, project_id));
  const input = { url, secret: 'keep' as const };
  const { changes } = await changeCallback(tx, { sealing }, { project, input });
  await changeProject(tx, project, changes);
};

/** Starts the second transaction when the first has done all its work, but has not committed. */
async function inTurn(...work: [first: Work, second: Work]): Promise<void> {
  const [done, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = db.transaction(async (tx) => {
    await work[0](tx);
    done.resolve();
    await release.promise;
  });
  await done.promise;
  const second = db.transaction(work[1]);
  await untilWaiting(db, 1).finally(() => release.resolve());
  await Promise.all([first, second]);
}

type Work = (tx: Transaction) => Promise<unknown>;

const listWebhooks = () =>
  db.query('select event, url, status from webhook_deliveries where project_id = $1', [project_id]);

describe('settling a quota while the callback URL is changed', () => {
  it('records no event if the URL was removed first, even if another one is set later', async () => {
    await inTurn(change(null), settle);
    await db.transaction(change(NEW));
    expect(await listWebhooks()).toEqual([]);
  });

  it('sends the event to the new URL if that was set first', async () => {
    await inTurn(change(NEW), settle);
    expect(await listWebhooks()).toEqual([
      { event: 'quota.exceeded', url: NEW, status: 'pending' },
    ]);
  });

  it('cancels the event if the URL is removed afterwards', async () => {
    await inTurn(settle, change(null));
    await db.transaction(change(NEW));
    expect(await listWebhooks()).toEqual([
      { event: 'quota.exceeded', url: OLD, status: 'canceled' },
    ]);
  });

  it('sends the event to the new URL if that is set afterwards', async () => {
    await inTurn(settle, change(NEW));
    expect(await listWebhooks()).toEqual([
      { event: 'quota.exceeded', url: NEW, status: 'pending' },
    ]);
  });
});

it('an event has the day of the change, however long the organization had not changed before', async () => {
  await db.query(`update organizations set updated_at = now() - interval '40 days'`);
  await db.transaction(settle);
  const [sent] = await db.query<{ body: string; day: string }>(
    `select body, to_char(quota_exceeded_at at time zone 'UTC', 'YYYY-MM-DD') as day
     from webhook_deliveries join projects using (project_id) join organizations using (organization_id)
     where project_id = $1`,
    [project_id],
  );
  const { data } = JSON.parse(must(sent).body) as { data: { day: string } };
  expect(data.day).toBe(must(sent).day);
});

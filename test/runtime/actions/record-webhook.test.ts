// Spec: Events, Delivery format (created_at is when the delivery was first recorded).
import { expect, it } from 'vitest';
import { blockFile, unblockFile } from '../../../runtime/actions/block-file.ts';
import { publishFile } from '../../../runtime/actions/publish-file.ts';
import { updateQuotaStatus } from '../../../runtime/actions/update-quota-status.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { makeFile, makeProcessing, newRevision } from '../../support/rows.ts';
import { makeCallbackProject } from '../../support/webhooks.ts';

const { db } = useDatabase();
const actor = { actor_kind: 'staff', actor_id: 'user_staff' } as const;
const slow = { now: () => new Date(Date.now() - 100_000) };

const makeListener = () =>
  makeCallbackProject(db, { url: 'https://1.1.1.1/hook', secret: 'whsec_1' });

/** Lists the project's events by time. Each body must give the same time as its row. */
async function listEvents({ project_id }: ProjectRow) {
  const rows = await db.query<{ event: string; body: string; created_at: Date; updated_at: Date }>(
    `select event, body, created_at, updated_at from webhook_deliveries
     where project_id = $1 order by created_at`,
    [project_id],
  );
  for (const { body, created_at, updated_at } of rows) {
    expect(JSON.parse(body).created_at).toBe(created_at.toISOString());
    expect(updated_at).toEqual(created_at);
  }
  return rows.map(({ event, created_at }) => ({
    event,
    ago_ms: Date.now() - created_at.getTime(),
  }));
}

it('a webhook event carries the time of the database clock at which it was recorded', async () => {
  const project = await makeListener();
  const upload = await makeProcessing(db, project, { file_slug: 'hero.png' });
  const { upload_id, attempt } = upload;
  const place = { taken_at: null, location: null };
  const publication = { upload_id, attempt, facts: newRevision(upload), ...place };
  await publishFile({ db, clock: slow }, publication);
  await db.transaction((tx) => updateQuotaStatus(tx, project.organization_id));
  const events = await listEvents(project);
  expect(events.map(({ event }) => event)).toEqual(['upload.ready', 'quota.exceeded']);
  for (const { ago_ms } of events) expect(ago_ms).toBeLessThan(50_000);
});

it('the later of two events of a revision has the later time, even if its transaction began first', async () => {
  const project = await makeListener();
  const { file_id } = await makeFile(db, project, { file_slug: 'hero.png' });
  await db.transaction(async (tx) => {
    await tx.query('select');
    await db.transaction((other) =>
      blockFile(other, { file_id, blocked_by: 'staff', reason: 'spam', actor }),
    );
    await unblockFile(tx, { file_id, actor });
  });
  const events = await listEvents(project);
  expect(events.map(({ event }) => event)).toEqual(['file.blocked', 'file.unblocked']);
});

// Concurrent reviews of a check: the later one records the decision that the earlier one made. Spec: Staff, checks.
import { expect, it } from 'vitest';
import { reviewCheck } from '../../../runtime/actions/review-check.ts';
import type { ReviewDecision } from '../../../runtime/core/states.ts';
import type { Transaction } from '../../../runtime/db/client.ts';
import { lockProject } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
import { makeCheck, makeFile, makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 4 });
const actor = { actor_kind: 'staff', actor_id: 'user_staff' } as const;

it('each review is audited with the decision that it replaces, even if two are concurrent', async () => {
  const project = await makeProject(db);
  const check_id = await makeCheck(db, await makeFile(db, project));
  const review = (tx: Transaction, decision: ReviewDecision) =>
    reviewCheck(tx, { check_id, decision, note: null, reviewer: 'user', actor, now: new Date() });
  let later: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await lockProject(tx, project.project_id);
    later = db.transaction((other) => review(other, 'approved'));
    await untilWaiting(db, 1);
    await review(tx, 'rejected');
  });
  await later;
  const reported = await db.query(
    `select before->>'review' as before, after->>'review' as after from audit_log
     where action = 'check.review' order by audit_id`,
  );
  expect(reported).toEqual([
    { before: 'unreviewed', after: 'rejected' },
    { before: 'rejected', after: 'approved' },
  ]);
});

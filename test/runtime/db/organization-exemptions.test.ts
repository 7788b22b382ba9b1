// Spec: Organization (billing_exempt, billing_exempt_until).
import { beforeAll, expect, it } from 'vitest';
import { exemptOrganization } from '../../../runtime/actions/exempt-organization.ts';
import { listExemptions } from '../../../runtime/db/organization-exemptions.ts';
import { auditEntries } from '../../support/audit-entries.ts';
import { useDatabase } from '../../support/database.ts';
import { type DatabaseClock, takeDatabaseClock } from '../../support/database-clock.ts';
import { makeOrganization } from '../../support/rows.ts';

const { db, url } = useDatabase();
const actor = { actor_kind: 'staff', actor_id: 'staff' } as const;
let clock: DatabaseClock;

beforeAll(async () => {
  clock = await takeDatabaseClock(url(), db);
});

it('exemptions within one millisecond, or after the clock was set back, do not overlap', async () => {
  const { organization_id } = await makeOrganization(db);
  const exempt = (billing_exempt: boolean) =>
    db.transaction((tx) => exemptOrganization(tx, { organization_id, billing_exempt, actor }));
  for (const at of ['2026-11-20T12:00:00.001Z', '2026-11-20T11:59:59Z']) {
    await clock.set(at);
    for (const is of [true, false, true, false, true, false])
      expect((await exempt(is)).billing_exempt).toBe(is);
  }
  await clock.set('2026-11-20T13:00:00Z');
  await exempt(true);
  const milliseconds = (await listExemptions(db, [organization_id])).map((each) =>
    [each.from, each.until].map((time) => time?.toISOString().slice(11)),
  );
  expect(milliseconds).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((ms) => [`12:00:00.00${ms}Z`, `12:00:00.00${ms}Z`]),
    ['13:00:00.000Z', undefined],
  ]);
});

it('ending an exemption that never began sets no end and writes no audit entry', async () => {
  const { organization_id } = await makeOrganization(db);
  const input = { organization_id, billing_exempt: false, actor };
  const after = await db.transaction((tx) => exemptOrganization(tx, input));
  expect(after).toMatchObject({ billing_exempt: false, billing_exempt_until: null });
  expect(await auditEntries(db, { organization_id }, '%')).toEqual([]);
});

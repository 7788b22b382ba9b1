// The organization of a namespace. Spec: Organization; Organization quota; Metering (plans: trial, once).
import { expect, it } from 'vitest';
import { createOrganizations } from '../../../operator/cluster/organizations.ts';
import { defaultPlans } from '../../../runtime/core/plans.ts';
import {
  findOrganization,
  findOrganizationByNamespace,
} from '../../../runtime/db/organizations.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { systemClock as clock } from '../../../runtime/platform/clock.ts';
import { auditEntries } from '../../support/audit-entries.ts';
import { countBalance } from '../../support/count-balance.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs } from '../../support/jobs.ts';

const { db } = useDatabase();

it('concurrent callers create one organization for a namespace, with one trial and one audit entry', async () => {
  const processes = [1, 2, 3, 4].map(() =>
    createOrganizations({ clock, findPlans: async () => defaultPlans }),
  );
  const found = await Promise.all(processes.map((find) => find(db, 'team-a')));
  expect(new Set(found).size).toBe(1);
  const [organization_id = ''] = found;
  expect(await findOrganization(db, organization_id)).toMatchObject({
    ...{ name: 'team-a', namespace: 'team-a', plan: 'trial' },
    credit_balance: defaultPlans.trial.credits,
  });
  expect(await countBalance(db, organization_id)).toBe(defaultPlans.trial.credits);
  expect(await auditEntries(db, { organization_id }, '%')).toMatchObject([
    {
      ...{ action: 'organization.create', actor_kind: 'operator', target: organization_id },
      after: { name: 'team-a', namespace: 'team-a' },
    },
  ]);
});

it('a new organization is not over its quota after a daily charge if nothing was delivered', async () => {
  const organization_id = await createOrganizations({ clock, findPlans: async () => defaultPlans })(
    db,
    'team-b',
  );
  const jobs = await makeJobs(db);
  await jobs.run(table['daily-charge']).finally(() => jobs.close());
  expect(await findOrganization(db, organization_id)).toMatchObject({ quota_exceeded_at: null });
});

it('no organization is created while the plans are unknown, but an existing one is still found', async () => {
  const findPlans = async () => {
    throw new Error('nobody knows the plans');
  };
  const waiting = createOrganizations({ clock, findPlans });
  await expect(waiting(db, 'team-c')).rejects.toThrow('nobody knows the plans');
  expect(await findOrganizationByNamespace(db, 'team-c')).toBeUndefined();
  const organization_id = await createOrganizations({ clock, findPlans: async () => defaultPlans })(
    db,
    'team-c',
  );
  expect(await waiting(db, 'team-c')).toBe(organization_id);
});

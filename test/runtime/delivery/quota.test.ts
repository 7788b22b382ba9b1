// Spec: Organization quota (delivery 403 quota_exceeded; delivery resumes); Metering.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyBillingEvent } from '../../../runtime/actions/apply-billing-event.ts';
import { exemptOrganization } from '../../../runtime/actions/exempt-organization.ts';
import { LOOKUP_CACHE_SECONDS_MAX } from '../../../runtime/core/limits.ts';
import { defaultPlans } from '../../../runtime/core/plans.ts';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage, type StoredImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { over, quarters } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const CHARGE = new Date('2026-11-20T00:20:00Z');
let host: DeliveryHost;
let jobs: TestJobs;
let project: ProjectRow;
let image: StoredImage;
let sequence = 0;

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  jobs = await makeJobs(db);
  jobs.clock.set(new Date('2026-11-20T12:00:00Z'));
  const bytes = await over(quarters(16, 16)).png().toBuffer();
  image = { bytes, width: 16, height: 16, content_type: 'image/png' };
});
afterAll(async () => {
  await host.close();
  await jobs.close();
});
beforeEach(async () => {
  project = await makeProject(db);
  const { organization_id } = project;
  await insertCreditGrant(db, {
    organization_id,
    credits: 10,
    source: 'staff',
    external_id: organization_id,
  });
  await publishImage({ db, content: host.content }, project, { image, file_slug: 'cat' });
});

const view = async () =>
  (await host.get(project.project_slug, '/originals/f/cat')).code ?? 'served';

async function useUp(credits: number): Promise<void> {
  sequence += 1;
  const window_start = new Date('2026-11-19T05:00:00Z');
  const sums = { requests: 1, bytes: 1, transforms: 0, credits };
  const entries = [{ project_id: project.project_id, window_start, ...sums }];
  await insertUsageBatch(db, { spool_id: 'quota', sequence, entries });
  await jobs.run(table['hourly-rollup']);
  await jobs.run(table['daily-charge'], CHARGE);
}

/** Seconds, by the delivery server's clock, until viewers get the wanted result. */
async function secondsUntil(wanted: string): Promise<number> {
  for (let seconds = 0; seconds <= 2 * LOOKUP_CACHE_SECONDS_MAX; seconds++) {
    if ((await view()) === wanted) return seconds;
    host.clock.advance(1);
  }
  throw new Error(`never ${wanted}`);
}

describe('an organization without credits', () => {
  it('is refused within 30 seconds of the charge that used its last credit', async () => {
    expect(await view()).toBe('served');
    await useUp(9);
    host.clock.advance(LOOKUP_CACHE_SECONDS_MAX + 1);
    expect(await view()).toBe('served');
    await useUp(1);
    expect(await secondsUntil('quota_exceeded')).toBeLessThanOrEqual(30);
  });

  it('is served again within 30 seconds of a payment', async () => {
    await useUp(10);
    expect(await view()).toBe('quota_exceeded');
    const products = { a: {}, b: { prod_s: 'starter' } };
    const deps = { db, plans: defaultPlans, products };
    const { organization_id } = project;
    const result = await applyBillingEvent(deps, {
      provider: 'b',
      event_id: `evt_${organization_id}`,
      event_type: 'subscription.paid',
      event_at: new Date(),
      fact: {
        kind: 'paid',
        subscription_id: `sub_${organization_id}`,
        customer_id: `cust_${organization_id}`,
        organization_id,
        product_id: 'prod_s',
        payment_id: `tran_${organization_id}`,
        status: undefined,
        price: undefined,
      },
    });
    expect(result).toBe('processed');
    expect(await secondsUntil('served')).toBeLessThanOrEqual(30);
  });

  it('is served again within 30 seconds of a billing exemption, and never refused while exempt', async () => {
    await useUp(10);
    expect(await view()).toBe('quota_exceeded');
    const { organization_id } = project;
    const actor = { actor_kind: 'staff' as const, actor_id: 'staff' };
    await db.transaction((tx) =>
      exemptOrganization(tx, { organization_id, billing_exempt: true, actor }),
    );
    expect(await secondsUntil('served')).toBeLessThanOrEqual(30);
    await useUp(100);
    host.clock.advance(LOOKUP_CACHE_SECONDS_MAX + 1);
    expect(await view()).toBe('served');
  });
});

// The variables, plans and statements of the documents are accepted as written.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { findBillingPayment } from '../../runtime/db/billing-payments.ts';
import { findCustomerOrganization } from '../../runtime/db/provider-events.ts';
import { parseConfig } from '../../runtime/platform/config.ts';
import { readPlans } from '../../runtime/platform/plans-file.ts';
import { readFences } from '../contract/support/blocks.ts';
import { useDatabase } from '../support/database.ts';
import { makeOrganization } from '../support/rows.ts';

const { db } = useDatabase();

const shown = readFences('docs/cdn.md')
  .filter(({ language }) => language === 'dotenv')
  .map(({ heading, text }) => [heading, text] as const);

it.each(shown)(
  'the variables in docs/cdn.md are a valid configuration: %s, %j',
  (_heading, text) => {
    const variables = parseEnv(text.replaceAll('…', 'a token of yours'));
    const config = Object.values(parseConfig(variables)).flat().map(String);
    expect(Object.keys(variables)).not.toEqual([]);
    expect(config).toContain(variables['TINTYPE_CDN']);
  },
);

const [plans, statement, payment] = readFences('docs/billing.md');

it('the plans in docs/billing.md are valid', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-plans-'));
  const file = join(folder, 'plans.yaml');
  await writeFile(file, plans?.text ?? '');
  expect(readPlans({ plans: file, providerAPlans: {}, providerBPlans: {} })).toMatchObject({
    trial: { credits: 1000 },
    shop: { price: { amount: 2900, currency: 'EUR' } },
  });
  await rm(folder, { recursive: true });
});

it('the statement in docs/billing.md assigns a customer to an organization', async () => {
  const { organization_id } = await makeOrganization(db);
  await db.query((statement?.text ?? '').replace('org_…', organization_id));
  const found = await findCustomerOrganization(db, { provider: 'b', customer_id: 'cust_…' });
  expect(found).toBe(organization_id);
});

it('the statement in docs/billing.md adds a payment', async () => {
  await db.query(payment?.text ?? '');
  expect(await findBillingPayment(db, { provider: 'a', paid_by: 'pi_…' })).toBe('in_…');
});

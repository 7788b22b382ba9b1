// The variables, plans and statements of the documents are accepted as written.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { findBillingPayment } from '../../runtime/db/billing-payments.ts';
import { findCustomerOrganization } from '../../runtime/db/provider-events.ts';
import { type Config, parseConfig } from '../../runtime/platform/config.ts';
import { variables } from '../../runtime/platform/config-variables.ts';
import { readPlans } from '../../runtime/platform/plans-file.ts';
import { readFences } from '../contract/support/blocks.ts';
import { useDatabase } from '../support/database.ts';
import { makeOrganization } from '../support/rows.ts';

const { db } = useDatabase();

const TOKEN = 'a token of yours';

/** What the cache of each section needs, as the product reads it. */
const cdns: Record<string, Partial<Config>> = {
  Varnish: {
    cdn: 'http-purge',
    cdnMethod: 'BAN',
    cdnUrl: ['http://varnish-0.varnish:6081', 'http://varnish-1.varnish:6081'],
    cdnToken: TOKEN,
  },
  nginx: {
    cdn: 'http-purge',
    cdnMethod: 'PURGE',
    cdnUrl: ['http://nginx.internal'],
    deliveryRootDomain: 'img.example.com',
  },
  Cloudflare: {
    cdn: 'cloudflare',
    cdnZone: '023e105f4ecef8ad9ca31a8372d0c353',
    cdnToken: TOKEN,
    cdnCallsPerMinute: 300,
  },
  Fastly: { cdn: 'fastly', cdnZone: 'SU1Z0isxPaozGVKXdv0eY', cdnToken: TOKEN },
  CloudFront: { cdn: 'cloudfront', cdnZone: 'EDFDVBD6EXAMPLE' },
};

const shown = readFences('docs/cdn.md').filter(({ language }) => language === 'dotenv');

it('docs/cdn.md shows the variables of each cache', () => {
  expect(shown.map(({ heading }) => heading)).toEqual(Object.keys(cdns));
});

it.each(shown)(
  'the variables in docs/cdn.md set what the cache needs, and nothing else: $heading',
  ({ heading, text }) => {
    const given = parseEnv(text.replaceAll('…', TOKEN));
    expect(parseConfig(given)).toEqual({ ...parseConfig({}), ...cdns[heading] });
    const known = Object.values(variables).map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining(Object.keys(given)));
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

/** An organization that pays through provider B, new for each test, and events about it. */
import { beforeEach } from 'vitest';
import { defaultPlans, type Plans } from '../../runtime/core/plans.ts';
import { findOrganization, type OrganizationRow } from '../../runtime/db/organizations.ts';
import { findSubscription } from '../../runtime/db/subscriptions.ts';
import type { FailpointName } from '../../runtime/platform/failpoint.ts';
import type { Api } from './api-server.ts';
import {
  type EventB,
  messageB,
  newEventId,
  PROVIDER_B_SECRET,
  saidOf,
  tell,
} from './provider-events.ts';
import { makeOrganization, must } from './rows.ts';

const plans: Plans = {
  ...defaultPlans,
  builder: { ...defaultPlans.builder, price: { amount: 4900, currency: 'EUR' } },
};
const products = { a: {}, b: { prod_s: 'starter', prod_b: 'builder', prod_old: 'gone' } };
export const NOW = Date.now();

export type Changes = Partial<Omit<EventB, 'object'>> & { object?: object };

export function useProviderB(api: Api) {
  const tenant = { organization_id: '', subscription_id: '', customer: '' };
  const renew = async () => {
    ({ organization_id: tenant.organization_id } = await makeOrganization(api.db));
    tenant.subscription_id = `sub_${newEventId()}`;
    tenant.customer = `cust_${newEventId()}`;
  };
  const configure = (step?: FailpointName) =>
    api.change({
      ...{ plans, products, providerBSecret: PROVIDER_B_SECRET },
      failpoint: (name) => {
        if (name === step) throw new Error('the process dies');
      },
    });
  const subscriptionNow = () => {
    const { subscription_id } = tenant;
    return findSubscription(api.db, { provider: 'b', subscription_id });
  };
  beforeEach(async () => {
    configure();
    await renew();
  });
  return {
    tenant,
    /** Creates another organization, subscription and customer. */
    renew,
    /** Makes every call fail at this step; without an argument, calls succeed again. */
    dieAt: configure,
    event: (eventType: string, { object, ...envelope }: Changes = {}): EventB => ({
      id: newEventId(),
      eventType,
      created_at: NOW,
      ...envelope,
      object: {
        id: tenant.subscription_id,
        mode: 'test',
        customer: { id: tenant.customer, email: 'owner@shop.example' },
        product: { id: 'prod_s', price: 1900, currency: 'EUR' },
        last_transaction_id: `tran_${newEventId()}`,
        metadata: { organization_id: tenant.organization_id },
        ...object,
      },
    }),
    /** A refund of `refund_amount` cents for a transaction of 19.00. */
    refund: (transaction: string, refund_amount: number): EventB => ({
      id: newEventId(),
      eventType: 'refund.created',
      created_at: NOW,
      object: {
        id: `ref_${newEventId()}`,
        mode: 'test',
        refund_amount,
        transaction: { id: transaction, amount: 1900 },
      },
    }),
    send: async (sent: EventB) => saidOf(await tell(api.send, messageB(sent))),
    organizationNow: async (): Promise<OrganizationRow> =>
      must(await findOrganization(api.db, tenant.organization_id)),
    subscriptionNow,
    statusNow: async () => (await subscriptionNow())?.status,
  };
}

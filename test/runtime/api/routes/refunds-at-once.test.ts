// Spec: Infrastructure (POST /v1/billing/providerb/webhook); Organization quota: concurrent refunds.
import { expect, it } from 'vitest';
import { lockOrganization } from '../../../../runtime/db/organizations.ts';
import { useApi } from '../../../support/api-server.ts';
import { countBalance } from '../../../support/count-balance.ts';
import { untilWaiting } from '../../../support/lock-waits.ts';
import { useProviderB } from '../../../support/provider-b-tenant.ts';
import { newEventId } from '../../../support/provider-events.ts';

const api = useApi();
const { tenant, event, refund, send, organizationNow } = useProviderB(api);

it('concurrent refunds of one payment never take back more than it granted', async () => {
  const { organization_id } = tenant;
  const tran = `tran_${newEventId()}`;
  await send(event('subscription.paid', { object: { last_transaction_id: tran } }));
  await send(event('subscription.paid'));
  expect((await organizationNow()).credit_balance).toBe(100_000);
  const sent = await api.db.transaction(async (tx) => {
    await lockOrganization(tx, organization_id);
    const refunds = [950, 1900, 1900].map((amount) => send(refund(tran, amount)));
    await untilWaiting(api.db, refunds.length);
    return { answers: Promise.all(refunds) };
  });
  expect(await sent.answers).toEqual(Array(3).fill('200 processed'));
  expect((await organizationNow()).credit_balance).toBe(50_000);
  expect(await countBalance(api.db, organization_id)).toBe(50_000);
});

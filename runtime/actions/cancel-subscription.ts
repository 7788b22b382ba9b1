/**
 * Cancels an organization's subscription at payment provider B, at the end of the paid period. Of several concurrent
 * requests, only one calls the provider. Spec: Billing (cancel-subscription).
 */
import { ServiceError } from '../core/errors.ts';
import type { SubscriptionStatus } from '../core/states.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database } from '../db/client.ts';
import { lockOrganization } from '../db/organizations.ts';
import {
  claimCancellation,
  findSubscription,
  findSubscriptionOfOrganization,
  releaseCancellation,
  type SubscriptionRow,
} from '../db/subscriptions.ts';
import type { ProviderB } from '../platform/billing/provider-b.ts';
import type { Log } from '../platform/log.ts';
import { moveSubscription } from './move-subscription.ts';

export type CancelDeps = {
  readonly db: Database;
  readonly log: Log;
  /** Undefined if this deployment does not use provider B. */
  readonly providerB: ProviderB | undefined;
};

/** Longer than the calls to the provider take. */
const LEASE_SECONDS = 30;

/** Every status that the specification allows in the answer. */
export type Canceled = Exclude<SubscriptionStatus, 'active'>;

export async function cancelSubscription(
  deps: CancelDeps,
  { organization_id, actor }: { organization_id: string; actor: Actor },
): Promise<Canceled> {
  const found = await findSubscriptionOfOrganization(deps.db, organization_id);
  if (found === undefined) throw new ServiceError('no_subscription');
  if (found.provider === 'a') throw new ServiceError('use_billing_portal');
  if (found.status === 'scheduled_cancel') throw new ServiceError('already_cancelling');
  if (found.status !== 'active') return found.status;
  const { providerB } = deps;
  if (providerB === undefined) throw new ServiceError('billing_unavailable');
  const isOurs = await claimCancellation(deps.db, { ...found, lease_seconds: LEASE_SECONDS });
  if (!isOurs) throw new ServiceError('already_cancelling');
  try {
    const status = await providerB.cancel(found);
    await record(deps, found, { status, actor });
    return status;
  } finally {
    await release(deps, found);
  }
}

/** If the database is unavailable, the claim stays until its lease ends. */
async function release({ db, log }: CancelDeps, found: SubscriptionRow): Promise<void> {
  try {
    await releaseCancellation(db, found);
  } catch (error) {
    const { organization_id } = found;
    log.warn('the claim on a cancellation could not be released', { organization_id, error });
  }
}

type Recording = { status: Canceled; actor: Actor };

/**
 * Keeps the time of the latest event that the provider sent meanwhile instead of our clock's. The
 * provider's event about the cancellation is then newer by the provider's clock and counts.
 */
async function record(
  { db }: CancelDeps,
  found: SubscriptionRow,
  { status, actor }: Recording,
): Promise<void> {
  const { organization_id, subscription_id } = found;
  await db.transaction(
    async (tx) => {
      await lockOrganization(tx, organization_id);
      const current = (await findSubscription(tx, found)) ?? found;
      await moveSubscription(tx, { ...current, status, at: current.changed_at });
      await insertAuditEntry(tx, {
        ...actor,
        organization_id,
        action: 'billing.cancel_subscription',
        target: subscription_id,
        before: { status: found.status },
        after: { status },
      });
      return true;
    },
    {
      settle: async (fresh) =>
        (await findSubscription(fresh, found))?.status === status || undefined,
    },
  );
}

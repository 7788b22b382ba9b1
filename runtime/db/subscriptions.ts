// Table subscriptions: subscriptions as their provider last reported them. Spec: Billing; Other state sets
// (subscription).
import type { Provider } from '../core/billing/billing-fact.ts';
import type { SubscriptionStatus } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';

export type SubscriptionRow = {
  provider: Provider;
  subscription_id: string;
  organization_id: string;
  plan: string;
  status: SubscriptionStatus;
  /** The provider's time of the last applied event. */
  changed_at: Date;
};

type SubscriptionId = Pick<SubscriptionRow, 'provider' | 'subscription_id'>;

const COLUMNS = 'provider, subscription_id, organization_id, plan, status, changed_at';

export async function findSubscription(
  db: Queryable,
  { provider, subscription_id }: SubscriptionId,
): Promise<SubscriptionRow | undefined> {
  const rows = await db.query<SubscriptionRow>(
    `select ${COLUMNS} from subscriptions where provider = $1 and subscription_id = $2`,
    [provider, subscription_id],
  );
  return rows[0];
}

/** The running subscription, otherwise the one that ended last. */
export async function findSubscriptionOfOrganization(
  db: Queryable,
  organizationId: string,
): Promise<SubscriptionRow | undefined> {
  const rows = await db.query<SubscriptionRow>(
    `select ${COLUMNS} from subscriptions where organization_id = $1
     order by status in ('active', 'scheduled_cancel') desc, changed_at desc, subscription_id limit 1`,
    [organizationId],
  );
  return rows[0];
}

/** Inserts or updates it, and sets the organization's resulting plan. */
export async function upsertSubscription(
  tx: Transaction,
  subscription: SubscriptionRow & { organization_plan: string },
): Promise<void> {
  const { provider, subscription_id, organization_id, plan, status, changed_at } = subscription;
  await tx.query(
    `with moved as (
       insert into subscriptions (provider, subscription_id, organization_id, plan, status, changed_at)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (provider, subscription_id) do update set plan = excluded.plan, status = excluded.status,
         changed_at = excluded.changed_at, updated_at = now()
     )
     update organizations set plan = $7, updated_at = now() where organization_id = $3 and plan <> $7`,
    [
      provider,
      subscription_id,
      organization_id,
      plan,
      status,
      changed_at,
      subscription.organization_plan,
    ],
  );
}

/** True for exactly one of several concurrent callers: that one asks the provider to cancel. */
export async function claimCancellation(
  db: Queryable,
  { provider, subscription_id, lease_seconds }: SubscriptionId & { lease_seconds: number },
): Promise<boolean> {
  const rows = await db.query(
    `update subscriptions set cancel_asked_at = now()
     where provider = $1 and subscription_id = $2 and status = 'active'
       and (cancel_asked_at is null or cancel_asked_at < now() - make_interval(secs => $3))
     returning subscription_id`,
    [provider, subscription_id, lease_seconds],
  );
  return rows.length > 0;
}

export async function releaseCancellation(
  db: Queryable,
  { provider, subscription_id }: SubscriptionId,
): Promise<void> {
  await db.query(
    'update subscriptions set cancel_asked_at = null where provider = $1 and subscription_id = $2',
    [provider, subscription_id],
  );
}

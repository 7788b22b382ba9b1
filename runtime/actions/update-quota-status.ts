/**
 * Updates the quota state after a change of the balance: over quota at zero or less, within quota above it, with one
 * event for every project that has a callback URL. Runs in the transaction of the change. Spec: Organization quota.
 */
import { printDeliveryId, type WebhookCause } from '../core/events.ts';
import { dayOf, isOverQuota } from '../core/metering.ts';
import type { Transaction } from '../db/client.ts';
import {
  lockOrganization,
  type OrganizationRow,
  updateOverQuota,
  updateWithinQuota,
} from '../db/organizations.ts';
import { lockCallbackProjects } from '../db/projects.ts';
import { countWebhookDeliveries } from '../db/webhook-deliveries.ts';
import { recordWebhook } from './record-webhook.ts';

export type QuotaChange = 'exceeded' | 'restored' | 'unchanged';

/** Events carry the day of the change. An exempt organization is never over quota. */
export async function updateQuotaStatus(
  tx: Transaction,
  organization_id: string,
): Promise<QuotaChange> {
  const before = await lockOrganization(tx, organization_id);
  if (before === undefined) return 'unchanged';
  const isOver = isOverQuota(before.credit_balance);
  const after = await (isOver ? updateOverQuota : updateWithinQuota)(tx, organization_id);
  if (after === undefined) return 'unchanged';
  for (const project_id of await lockCallbackProjects(tx, organization_id)) {
    await notifyProject(tx, { organization: after, project_id, day: dayOf(after.updated_at) });
  }
  return isOver ? 'exceeded' : 'restored';
}

type QuotaNotification = { organization: OrganizationRow; project_id: string; day: string };

/** Numbers the event by the earlier ones of the day; the organization's lock makes this exact. */
async function notifyProject(tx: Transaction, notification: QuotaNotification): Promise<void> {
  const first = webhookOf(notification, 1);
  const earlier = await countWebhookDeliveries(tx, first.id);
  await recordWebhook(tx, webhookOf(notification, earlier + 1));
}

function webhookOf(
  { organization, project_id, day }: QuotaNotification,
  occurrence: number,
): WebhookCause {
  const { organization_id, credit_balance, quota_exceeded_at } = organization;
  const data = { organization_id, project_id, day, credit_balance };
  if (quota_exceeded_at === null) {
    const restored = { ...data, quota_exceeded_at };
    const id = printDeliveryId('quota.restored', restored, occurrence);
    return { id, event: 'quota.restored', data: restored };
  }
  const exceeded = { ...data, quota_exceeded_at: quota_exceeded_at.toISOString() };
  const id = printDeliveryId('quota.exceeded', exceeded, occurrence);
  return { id, event: 'quota.exceeded', data: exceeded };
}

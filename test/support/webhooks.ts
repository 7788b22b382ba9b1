/** Projects with a callback URL, their events, and a sender that makes real HTTP requests to loopback addresses. */
import { randomBytes } from 'node:crypto';
import { printDeliveryId, printWebhookBody } from '../../runtime/core/events.ts';
import type { Database } from '../../runtime/db/client.ts';
import { type ProjectRow, updateProject } from '../../runtime/db/projects.ts';
import {
  insertWebhookDeliveries,
  type NewWebhookDelivery,
} from '../../runtime/db/webhook-deliveries.ts';
import type { WebhookDeps } from '../../runtime/jobs/send-webhook.ts';
import { createLanes, type Lanes } from '../../runtime/jobs/webhook-lanes.ts';
import {
  createWebhookSender,
  type WebhookResult,
  type WebhookSender,
} from '../../runtime/jobs/webhook-sender.ts';
import { callbackPost } from '../../runtime/platform/callback-post.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { callbackSecretContext } from '../../runtime/platform/sealing-contexts.ts';
import { makeProject } from './rows.ts';

export const sealing = createSealing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);

export function webhookDeps(db: Database, changes: Partial<WebhookDeps> = {}): WebhookDeps {
  const log = createLog({ level: 'silent', name: 'test' });
  const post = callbackPost({ egress: 'any', clock: systemClock });
  return { db, sealing, log, post, ...changes };
}

export function testSender(
  db: Database,
  changes: Partial<WebhookDeps> = {},
  lanes: Lanes = createLanes(),
): WebhookSender {
  return createWebhookSender(webhookDeps(db, changes), lanes);
}

/** Sends everything due once, and returns the results. */
export async function sendDue(sender: WebhookSender): Promise<(WebhookResult | undefined)[]> {
  return Promise.all(await sender.begin());
}

export async function makeCallbackProject(
  db: Database,
  { url, secret }: { url: string; secret: string },
): Promise<ProjectRow> {
  const project = await makeProject(db);
  await setCallback(db, { project_id: project.project_id, url, secret });
  return project;
}

type Callback = { project_id: string; url: string; secret: string };

export async function setCallback(db: Database, { project_id, url, secret }: Callback) {
  const sealed = sealing.seal(Buffer.from(secret), callbackSecretContext(project_id));
  await db.transaction((tx) =>
    updateProject(tx, {
      project_id,
      changes: { callback_url: url, callback_secret_sealed: sealed },
    }),
  );
}

/** Records a test event, and returns its id. */
export async function insertEvent(db: Database, project_id: string): Promise<string> {
  const delivery = newDelivery(project_id);
  await db.transaction((tx) => insertWebhookDeliveries(tx, [delivery]));
  return delivery.delivery_id;
}

/** Returns a delivery for a new event. */
export function newDelivery(project_id: string): NewWebhookDelivery {
  const data = { project_id, test_id: randomBytes(8).toString('hex') };
  const event = 'webhook.test';
  const id = printDeliveryId(event, data);
  const created_at = new Date();
  const body = printWebhookBody({ id, event, created_at, data });
  return { delivery_id: id, project_id, event, body, created_at };
}

/** Makes all scheduled attempts due now. */
export async function makeDue(db: Database): Promise<void> {
  await db.query(
    `update webhook_deliveries set next_attempt_at = now() - interval '1 s' where next_attempt_at is not null`,
  );
}

/**
 * Returns the state of a delivery; `delay` is the time from its last change to its next attempt, in
 * seconds.
 */
export async function deliveryRow(db: Database, id: string) {
  const [row] = await db.query<{
    status: string;
    attempt: number;
    last_status: number | null;
    last_error: string | null;
    delay: number | null;
    is_leased: boolean;
  }>(
    `select status, attempt, last_status, last_error, lease_until is not null as is_leased,
       extract(epoch from next_attempt_at - updated_at)::float8 as delay
     from webhook_deliveries where delivery_id = $1`,
    [id],
  );
  return row;
}

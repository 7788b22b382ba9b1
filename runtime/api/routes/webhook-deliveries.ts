/** Lists what was sent to a project's callback URL, sends it again, and sends a test. Spec: Endpoints, Webhooks. */
import { recordWebhook } from '../../actions/record-webhook.ts';
import { ServiceError } from '../../core/errors.ts';
import { printDeliveryId } from '../../core/events.ts';
import { newId } from '../../core/ids.ts';
import { wrongInput } from '../../core/input-issue.ts';
import { listWebhookDeliveriesQuery } from '../../core/resources/webhook-delivery.ts';
import { insertAuditEntry } from '../../db/audit-log.ts';
import type { Transaction } from '../../db/client.ts';
import { lockProject } from '../../db/projects.ts';
import { listWebhookAttempts } from '../../db/webhook-attempts.ts';
import {
  findWebhookDelivery,
  listWebhookDeliveries,
  updateWebhookResend,
  type WebhookDeliveryRow,
} from '../../db/webhook-deliveries.ts';
import { auditActor } from '../audit-actor.ts';
import { type ProjectCall, projectEndpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { presentWebhookDelivery } from '../present/webhook-delivery.ts';

const LIST = '/v1/projects/{slug}/webhook-deliveries';

export const listProjectWebhookDeliveries = projectEndpoint({
  method: 'GET',
  path: LIST,
  auth: ['dash'],
  ok: 200,
  query: listWebhookDeliveriesQuery,
  handle: async ({ deps: { db, cursorKeys }, project: { project_id }, query }) => {
    const { event = null, status = null } = query;
    const page = await listPage(
      { cursorKeys },
      {
        query,
        route: LIST,
        owner: project_id,
        filters: { event, status },
        find: (after) => listWebhookDeliveries(db, { ...after, project_id, event, status }),
        present: (row) => row,
      },
    );
    const attempts = await listWebhookAttempts(
      db,
      page.items.map(({ delivery_id }) => delivery_id),
    );
    return { ...page, items: page.items.map((row) => presentWebhookDelivery(row, attempts)) };
  },
});

export const redeliverWebhook = projectEndpoint({
  method: 'POST',
  path: `${LIST}/{id}/redeliver`,
  auth: ['dash'],
  ok: 200,
  effect: 'once',
  errors: ['not_found', 'project_suspended'],
  handle: async (call) => {
    const { project_id } = call.project;
    const delivery_id = call.params['id'] ?? '';
    const row = await call.deps.db.transaction(async (tx) => {
      const url = await lockCallback(tx, project_id);
      const asked = await updateWebhookResend(tx, { project_id, delivery_id, url });
      if (asked === undefined) throw new ServiceError('not_found');
      await audit(tx, call, { action: 'webhook.redeliver', target: delivery_id });
      return asked;
    });
    return presentWebhookDelivery(row, await listWebhookAttempts(call.deps.db, [delivery_id]));
  },
});

export const sendTestWebhook = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/webhook-test',
  auth: ['dash'],
  ok: 200,
  effect: 'once',
  errors: ['project_suspended'],
  handle: async (call) => {
    const row = await call.deps.db.transaction((tx) => insertTest(tx, call));
    return presentWebhookDelivery(row, []);
  },
});

type AnyCall = ProjectCall<undefined, undefined>;

async function insertTest(tx: Transaction, call: AnyCall): Promise<WebhookDeliveryRow> {
  const { project_id } = call.project;
  await lockCallback(tx, project_id);
  const event = 'webhook.test';
  const data = { project_id, test_id: newId('tst', call.deps.clock.now().getTime()) };
  const delivery_id = printDeliveryId(event, data);
  await recordWebhook(tx, { id: delivery_id, event, data });
  await audit(tx, call, { action: 'webhook.test', target: delivery_id });
  const row = await findWebhookDelivery(tx, { project_id, delivery_id });
  if (row === undefined) throw new Error(`${delivery_id} was written, and is not there`);
  return row;
}

/** The callback URL, locked until the transaction ends. Throws if the project cannot be sent to. */
async function lockCallback(tx: Transaction, projectId: string): Promise<string> {
  const project = await lockProject(tx, projectId);
  if (project?.status === 'suspended') throw new ServiceError('project_suspended');
  if (project?.callback_url != null) return project.callback_url;
  const message = 'the project has none; set one first';
  throw wrongInput({ path: 'callback_url', message });
}

async function audit(
  tx: Transaction,
  { principal, request_id, project }: AnyCall,
  entry: { action: string; target: string },
): Promise<void> {
  const { project_id } = project;
  await insertAuditEntry(tx, { ...auditActor({ principal, request_id }), project_id, ...entry });
}

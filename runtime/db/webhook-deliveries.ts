// Table webhook_deliveries: events for a project's callback URL, written in the transaction of the event. Spec: Events.
import { additionalWebhookMoves, statesBefore, type WebhookStatus } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import { deleteRows } from './delete-rows.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';
import { onlyRow } from './rows.ts';

export type WebhookDeliveryRow = {
  delivery_id: string;
  event: string;
  /** The target of the next attempt, or of the last one. */
  url: string;
  /** The bytes that every attempt sends. */
  body: string;
  status: WebhookStatus;
  /** By the schedule, or because a person asked. */
  next_attempt_at: Date | null;
  last_status: number | null;
  last_error: string | null;
  delivered_at: Date | null;
  /** The request that caused the event; its attempts carry the id too. */
  request_id: string | null;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = `delivery_id, event, url, body, status, least(next_attempt_at, resend_at) as next_attempt_at,
  last_status, last_error, delivered_at, request_id, created_at, updated_at`;

export type NewWebhookDelivery = {
  /** Stable over retries; a second row with the same id is the same event. */
  delivery_id: string;
  project_id: string;
  event: string;
  /** The bytes that every attempt sends. */
  body: string;
  /** As in its body. */
  created_at: Date;
  /** Of the request that caused the event. */
  request_id?: string | null;
  traceparent?: string | null;
};

/**
 * Inserts those whose project has a callback URL now, and that do not exist yet; returns how many.
 */
export async function insertWebhookDeliveries(
  tx: Transaction,
  deliveries: readonly NewWebhookDelivery[],
): Promise<number> {
  const rows = await tx.query(
    `insert into webhook_deliveries (delivery_id, project_id, event, body, url, request_id, traceparent,
       next_attempt_at, created_at, updated_at)
     select delivery_id, project_id, event, body, callback_url, request_id, traceparent, at, at, at
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
       told (delivery_id, project_id, event, body, request_id, traceparent, at)
     join projects using (project_id) where callback_url is not null
     on conflict (delivery_id) do nothing returning delivery_id`,
    [
      deliveries.map(({ delivery_id }) => delivery_id),
      deliveries.map(({ project_id }) => project_id),
      deliveries.map(({ event }) => event),
      deliveries.map(({ body }) => body),
      deliveries.map(({ request_id }) => request_id ?? null),
      deliveries.map(({ traceparent }) => traceparent ?? null),
      deliveries.map(({ created_at }) => created_at),
    ],
  );
  return rows.length;
}

/** Per statement: one project may have a great many waiting. */
const MOVED_AT_ONCE = 5_000;

/**
 * Waiting deliveries follow a changed callback URL; without one they are canceled. An attempt under
 * way is not affected.
 */
export async function updateWebhookUrl(
  tx: Transaction,
  { project_id, url }: { project_id: string; url: string | null },
): Promise<void> {
  const [change, isLeft, value] =
    url === null
      ? [CANCEL, 'true', statesBefore(additionalWebhookMoves, 'cancel')]
      : ['url = $3', 'url <> $3', url];
  // A delivery whose attempt ends meanwhile makes its part smaller, and does not appear in the
  // next.
  for (let part = 1; part > 0; ) {
    const [row] = await tx.query<{ count: number }>(
      `with moved as (
         update webhook_deliveries set ${change}, updated_at = now()
         where delivery_id = any(array(select delivery_id from webhook_deliveries
           where project_id = $1 and due_at is not null and ${isLeft} limit $2))
           and due_at is not null returning 1
       )
       select count(*) from moved`,
      [project_id, MOVED_AT_ONCE, value],
    );
    part = onlyRow(row).count;
  }
}

const CANCEL = `next_attempt_at = null, resend_at = null,
  status = case when status = any($3) then 'canceled' else status end`;

/**
 * How many deliveries have this id, with and without a number: tells which occurrence the next one
 * is. They are numbered without gaps, so that each is found by its whole id, however many other
 * deliveries there are.
 */
export async function countWebhookDeliveries(
  tx: Transaction,
  firstDeliveryId: string,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `with recursive told as (
       select 1 as occurrence from webhook_deliveries where delivery_id = $1::text
       union all
       select occurrence + 1 from told
       where exists (select from webhook_deliveries where delivery_id = $1 || ':' || (occurrence + 1))
     )
     select count(*) from told`,
    [firstDeliveryId],
  );
  return onlyRow(row).count;
}

/** Newest first; of one event and one status, or all if null. */
export function listWebhookDeliveries(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & WebhookFilters,
): Promise<Page<WebhookDeliveryRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

type WebhookFilters = { project_id: string; event: string | null; status: WebhookStatus | null };

const LIST: FilteredList<WebhookDeliveryRow, keyof WebhookFilters> = {
  select: `select ${COLUMNS} from webhook_deliveries`,
  conditions: {
    project_id: (value) => `project_id = ${value}`,
    event: (value) => `event = ${value}`,
    status: (value) => `status = ${value}`,
  },
  order: ['created_at', 'delivery_id'],
  idOf: (row) => row.delivery_id,
};

export async function findWebhookDelivery(
  db: Queryable,
  { project_id, delivery_id }: { project_id: string; delivery_id: string },
): Promise<WebhookDeliveryRow | undefined> {
  const rows = await db.query<WebhookDeliveryRow>(
    `select ${COLUMNS} from webhook_deliveries where project_id = $1 and delivery_id = $2`,
    [project_id, delivery_id],
  );
  return rows[0];
}

/**
 * One more attempt, now, to the project's callback URL. Undefined if there is no such delivery.
 * Each request gets a distinct time: the attempt for the previous one may be under way, to the
 * earlier URL.
 */
export async function updateWebhookResend(
  tx: Transaction,
  { project_id, delivery_id, url }: { project_id: string; delivery_id: string; url: string },
): Promise<WebhookDeliveryRow | undefined> {
  const rows = await tx.query<WebhookDeliveryRow>(
    `update webhook_deliveries set url = $3, updated_at = now(),
       resend_at = greatest(now(), resend_at + interval '1 millisecond')
     where project_id = $1 and delivery_id = $2 returning ${COLUMNS}`,
    [project_id, delivery_id, url],
  );
  return rows[0];
}

/**
 * Deletes those whose last attempt is longer ago and that are not to be sent any more, with their attempts; returns how
 * many. By their creation too, which has an index.
 */
export function deleteOldWebhookDeliveries(db: Queryable, ageSeconds: number): Promise<number> {
  const ago = 'now() - make_interval(secs => $1)';
  const condition = `created_at < ${ago} and updated_at < ${ago} and due_at is null`;
  return deleteRows(db, { table: 'webhook_deliveries', condition, value: ageSeconds });
}

/** Whether deliveries have been due for this long, and nobody has claimed one within that time. */
export async function areWebhooksStuck(db: Queryable, seconds: number): Promise<boolean> {
  const [row] = await db.query<{ stuck: boolean }>(
    `with open as (select due_at, lease_until from webhook_deliveries where due_at is not null)
     select exists (select from open where due_at < now() - make_interval(secs => $1))
       and not exists (select from open where lease_until > now() - make_interval(secs => $1)) as stuck`,
    [seconds],
  );
  return onlyRow(row).stuck;
}

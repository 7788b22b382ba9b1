// Table webhook_attempts, and which deliveries are due: claimed fairly between projects, each attempt recorded in one
// statement with its effect on the delivery. Spec: Webhook delivery attempt.
import type { WebhookStatus } from '../core/states.ts';
import type { Queryable } from './client.ts';
import { prepared } from './prepared-statements.ts';

/** A delivery that this caller must send, until its lease expires. */
export type ClaimedWebhook = {
  delivery_id: string;
  project_id: string;
  /** The URL's host as rooms are counted: in lower case, without the default port. */
  host: string;
  event: string;
  url: string;
  body: string;
  /** Attempts of the schedule that failed so far. */
  attempt: number;
  asked_by: 'schedule' | 'person';
  /** The resend request that a person's attempt fulfills. */
  resend_at: Date | null;
  /** Of the request that caused the event. */
  request_id: string | null;
  traceparent: string | null;
  lease_until: Date;
  callback_secret_sealed: Buffer;
  /** Null once it no longer signs along. */
  previous_callback_secret_sealed: Buffer | null;
  /** Of rotations within the same day; newest first. */
  older_callback_secrets_sealed: Buffer[];
};

export type WebhookRoom = {
  /** The maximum number. */
  limit: number;
  /** How many more attempts a project may have under way; 1 if absent. */
  rooms: ReadonlyMap<string, number>;
  /** The same for hosts; `host_max` if absent. */
  host_rooms: ReadonlyMap<string, number>;
  host_max: number;
  /** Projects that were slow, and how many more attempts they may have under way together. */
  slow: readonly string[];
  slow_limit: number;
  lease_seconds: number;
};

const WAITING = prepared(
  'select from webhook_deliveries where due_at is not null order by project_id limit 1',
);

/**
 * Claims due deliveries: equally from every project, drawn at random if there are more projects
 * than the limit, and the oldest first within a project. One index step finds each project, however
 * much it has waiting.
 */
export async function claimWebhooks(db: Queryable, room: WebhookRoom): Promise<ClaimedWebhook[]> {
  // Usually nothing waits, and planning the statement below takes 2 ms, five times a second.
  if ((await db.query(WAITING)).length === 0) return [];
  return db.query(
    `with recursive waiting as (
       (select project_id from webhook_deliveries where due_at is not null order by project_id limit 1)
       union all
       select (select d.project_id from webhook_deliveries d
         where d.due_at is not null and d.project_id > w.project_id order by d.project_id limit 1)
       from waiting w where w.project_id is not null
     ), drawn as (
       select p.project_id, coalesce(r.room, 1) as room, called.host, coalesce(h.room, $6) as host_room,
         s.project_id is not null as is_slow, random() as lot
       from waiting join projects p on p.project_id = waiting.project_id
       cross join lateral (select regexp_replace(
         lower(substring(p.callback_url from '^[a-z]+://([^/?#]*)')), '\\.?(:0*443)?$', '')) called (host)
       left join unnest($2::text[], $3::bigint[]) r (project_id, room) on r.project_id = p.project_id
       left join unnest($4::text[], $7::bigint[]) h (host, room) on h.host = called.host
       left join unnest($8::text[]) s (project_id) on s.project_id = p.project_id
       where coalesce(r.room, 1) > 0 and coalesce(h.room, $6) > 0
         and exists (select from webhook_deliveries d where d.project_id = p.project_id and d.due_at <= now())
     ), candidates as materialized (
       select * from (
         select *, row_number() over (partition by is_slow order by lot) as turn from drawn
       ) ordered where not is_slow or turn <= $9
       order by lot limit $1
     ), locked as materialized (
       select d.delivery_id, c.host, c.host_room from candidates c cross join lateral (
         select delivery_id from webhook_deliveries d
         where d.project_id = c.project_id and d.due_at <= now()
         order by d.due_at limit c.room for update skip locked
       ) d limit $1
     ), picked as (
       select delivery_id, host from (
         select *, row_number() over (partition by host) as place from locked
       ) placed where place <= host_room
     )
     update webhook_deliveries d set lease_until = now() + make_interval(secs => $5)
     from picked, projects p
     where d.delivery_id = picked.delivery_id and p.project_id = d.project_id
     returning d.delivery_id, d.project_id, picked.host, d.event, d.url, d.body, d.attempt, d.lease_until,
       d.resend_at, d.request_id, d.traceparent,
       case when d.resend_at <= now() then 'person' else 'schedule' end as asked_by,
       p.callback_secret_sealed,
       case when p.previous_callback_secret_until > now() then p.previous_callback_secret_sealed end
         as previous_callback_secret_sealed,
       array(select o.secret_sealed from older_callback_secrets o
         where o.project_id = p.project_id and o.signs_until > now() order by o.signs_until desc)
         as older_callback_secrets_sealed`,
    [
      room.limit,
      [...room.rooms.keys()],
      [...room.rooms.values()],
      [...room.host_rooms.keys()],
      room.lease_seconds,
      room.host_max,
      [...room.host_rooms.values()],
      room.slow,
      room.slow_limit,
    ],
  );
}

export type WebhookAttemptRow = {
  delivery_id: string;
  /** From 1, in the order of their ends. */
  attempt_number: number;
  asked_by: 'schedule' | 'person';
  started_at: Date;
  duration_ms: number;
  response_status: number | null;
  /** At most 1,000 characters. */
  response_excerpt: string | null;
  /** At most 500 characters; null: the endpoint answered 2xx. */
  error: string | null;
};

export type EndedAttempt = Omit<WebhookAttemptRow, 'attempt_number'> & {
  lease_until: Date;
  /** As it was claimed. */
  resend_at: Date | null;
  /** Until the schedule's next attempt after this failure; null: there is none. */
  retry_seconds: number | null;
};

/**
 * Records the attempt and updates its delivery: delivered, scheduled again, or abandoned. A
 * person's attempt leaves the schedule unchanged unless it arrived, and a later request still
 * waits. Undefined if somebody else has the lease.
 */
export async function recordWebhookAttempt(
  db: Queryable,
  ended: EndedAttempt,
): Promise<WebhookStatus | undefined> {
  const move = moveOf(ended);
  const [row] = await db.query<{ status: WebhookStatus }>(
    `with moved as (
       update webhook_deliveries set ${move.sql}, lease_until = null, last_status = $3, last_error = $4,
         updated_at = now()
       where delivery_id = $1 and lease_until = $2 returning delivery_id, status
     ), written as (
       insert into webhook_attempts (delivery_id, attempt_number, asked_by, started_at, duration_ms,
         response_status, error, response_excerpt)
       select delivery_id, (select count(*) + 1 from webhook_attempts a where a.delivery_id = $1),
         $5, $6, $7, $3, $4, $8
       from moved
     )
     select status from moved`,
    [
      ended.delivery_id,
      ended.lease_until,
      ended.response_status,
      ended.error,
      ended.asked_by,
      ended.started_at,
      ended.duration_ms,
      ended.response_excerpt,
      ...move.values,
    ],
  );
  return row?.status;
}

const DELIVERED = `status = 'delivered', delivered_at = now(), next_attempt_at = null`;

/**
 * The SQL to set, and the values from $9 on that it uses. A canceled delivery stays canceled unless
 * it arrived.
 */
function moveOf({ error, asked_by, resend_at, retry_seconds }: EndedAttempt) {
  const arrived = error === null ? `, ${DELIVERED}` : '';
  if (asked_by === 'person') {
    return { sql: `resend_at = nullif(resend_at, $9)${arrived}`, values: [resend_at] };
  }
  const counted = 'attempt = attempt + 1';
  if (error === null) return { sql: counted + arrived, values: [] };
  return {
    sql: `${counted},
      status = case when next_attempt_at is null then status when $9::float8 is null then 'abandoned'
        else 'retry scheduled' end,
      next_attempt_at = case when next_attempt_at is not null then now() + make_interval(secs => $9) end`,
    values: [retry_seconds],
  };
}

/** Gives back a claimed delivery that was not sent: the attempt does not count. */
export async function releaseWebhook(
  db: Queryable,
  { delivery_id, lease_until }: Pick<ClaimedWebhook, 'delivery_id' | 'lease_until'>,
): Promise<void> {
  await db.query(
    'update webhook_deliveries set lease_until = null where delivery_id = $1 and lease_until = $2',
    [delivery_id, lease_until],
  );
}

/** The newest twenty of each delivery, oldest first. */
export async function listWebhookAttempts(
  db: Queryable,
  deliveryIds: readonly string[],
): Promise<WebhookAttemptRow[]> {
  return db.query(
    `select a.* from unnest($1::text[]) d (delivery_id) cross join lateral (
       select * from webhook_attempts a where a.delivery_id = d.delivery_id
       order by attempt_number desc limit 20
     ) a order by delivery_id, attempt_number`,
    [deliveryIds],
  );
}

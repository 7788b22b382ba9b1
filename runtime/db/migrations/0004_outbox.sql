-- What a transition leaves to be sent or read later. Spec: Events; Caching and response headers.
-- Up Migration

create table webhook_deliveries (
  delivery_id text primary key check (char_length(delivery_id) <= 300),
  project_id text not null references projects,
  event text not null constraint webhook_deliveries_event_known check (
    event in ('upload.ready', 'file.blocked', 'file.unblocked', 'quota.exceeded', 'quota.restored', 'webhook.test')),
  url text not null,
  body text not null constraint webhook_deliveries_body_bounded check (octet_length(body) <= 2000),
  status text not null default 'pending'
    check (status in ('pending', 'retry scheduled', 'delivered', 'abandoned', 'canceled')),
  attempt smallint not null default 0 constraint webhook_deliveries_ten_attempts check (attempt between 0 and 10),
  next_attempt_at timestamptz(3) default now(),
  last_status integer,
  last_error text,
  delivered_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint webhook_deliveries_pending_has_attempts_left check (status <> 'pending' or attempt < 10),
  constraint webhook_deliveries_due_while_open
    check ((status in ('pending', 'retry scheduled')) = (next_attempt_at is not null)),
  constraint webhook_deliveries_delivered_at_a_time check ((status = 'delivered') = (delivered_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where next_attempt_at is not null;
create index webhook_deliveries_of_project on webhook_deliveries (project_id, created_at desc, delivery_id desc);
comment on table webhook_deliveries is 'Events to tell a project''s callback URL, written in the transaction of the event itself.';
comment on column webhook_deliveries.delivery_id is 'Stable over retries: event, colon, subject; from its second occurrence with a number.';
comment on column webhook_deliveries.url is 'The callback URL at the moment of the event.';
comment on column webhook_deliveries.body is 'Exactly the bytes that every attempt sends.';
comment on column webhook_deliveries.next_attempt_at is 'When to send next; a running attempt moves it behind its own deadline.';

create table purges (
  purge_id bigint generated always as identity primary key,
  project_id text not null references projects,
  file_slug text,
  reason text not null,
  run_after timestamptz(3) not null default now(),
  attempt integer not null default 0 check (attempt >= 0),
  sent_at timestamptz(3),
  last_error text,
  created_at timestamptz(3) not null default now()
);
create index purges_due on purges (run_after) where sent_at is null;
create index purges_sent on purges (sent_at) where sent_at is not null;
comment on table purges is 'What the CDN has to forget. Each purge is two rows: at once, and after every old lookup and render has ended.';
comment on column purges.file_slug is 'Null: everything of the project.';
comment on column purges.run_after is 'When to send; a running attempt moves it behind its own deadline.';

create table audit_log (
  audit_id bigint generated always as identity primary key,
  organization_id text references organizations,
  project_id text references projects,
  actor_kind text not null check (actor_kind in ('user', 'staff', 'key', 'library_session', 'operator', 'system')),
  actor_id text,
  action text not null,
  target text,
  before jsonb,
  after jsonb,
  request_id text,
  created_at timestamptz(3) not null default now()
);
create index audit_log_of_project on audit_log (project_id, created_at desc, audit_id desc);
create index audit_log_by_age on audit_log (created_at);
comment on table audit_log is 'Who did what, written in the transaction of the deed. Never holds secrets.';
comment on column audit_log.actor_id is 'Subject, key id or resource UID, by actor_kind.';
comment on column audit_log.target is 'What it was done to: an id or a slug.';

-- Down Migration

drop table audit_log;
drop table purges;
drop table webhook_deliveries;

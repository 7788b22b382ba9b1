-- What was sent to a callback URL, what it returned, and which delivery is due now. Spec: Webhook delivery attempt.
-- Up Migration

alter table webhook_deliveries
  add column resend_at timestamptz(3),
  add column lease_until timestamptz(3);
alter table webhook_deliveries
  add column due_at timestamptz(3) generated always as (
    case when next_attempt_at is null and resend_at is null then null
    else greatest(least(next_attempt_at, resend_at), lease_until) end
  ) stored;
drop index webhook_deliveries_due;
create index webhook_deliveries_due on webhook_deliveries (project_id, due_at) where due_at is not null;
create index webhook_deliveries_by_age on webhook_deliveries (created_at);
comment on column webhook_deliveries.next_attempt_at is 'When the schedule sends next; null once it is over.';
comment on column webhook_deliveries.resend_at is 'When a person asked for one more attempt; it counts as none of the ten.';
comment on column webhook_deliveries.lease_until is 'While an attempt is under way: when it counts as lost. Only who set it records the attempt.';
comment on column webhook_deliveries.due_at is 'When a sender takes it: the earlier of schedule and wish, never within a lease.';

create table webhook_attempts (
  delivery_id text not null references webhook_deliveries on delete cascade,
  attempt_number integer not null check (attempt_number >= 1),
  asked_by text not null check (asked_by in ('schedule', 'person')),
  started_at timestamptz(3) not null,
  duration_ms integer not null check (duration_ms >= 0),
  response_status integer,
  response_excerpt text check (char_length(response_excerpt) <= 1000),
  error text check (char_length(error) <= 500),
  primary key (delivery_id, attempt_number)
);
comment on table webhook_attempts is 'One row for each attempt that ended, written with its effect on the delivery: what a tenant''s engineer reads.';
comment on column webhook_attempts.response_excerpt is 'The beginning of the answer''s body, as text.';
comment on column webhook_attempts.error is 'Why it failed; null where the endpoint answered 2xx.';

-- Down Migration

drop table webhook_attempts;
drop index webhook_deliveries_by_age;
alter table webhook_deliveries drop column due_at;
alter table webhook_deliveries drop column resend_at, drop column lease_until;
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where next_attempt_at is not null;

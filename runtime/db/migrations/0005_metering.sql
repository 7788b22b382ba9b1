-- Usage, from a delivery's spool to the ledger. Spec: Metering; Usage record.
-- Up Migration

create table usage_batches (
  batch_id bigint generated always as identity primary key,
  spool_id text not null check (char_length(spool_id) between 1 and 64),
  sequence bigint not null check (sequence >= 0),
  received_at timestamptz(3) not null default now(),
  constraint usage_batches_once unique (spool_id, sequence)
);
create index usage_batches_by_age on usage_batches (received_at);
comment on table usage_batches is 'Flushed pieces of a delivery server''s spool; a piece that comes twice is one row.';
comment on column usage_batches.spool_id is 'Random, made with the spool.';

create table usage_batch_rows (
  batch_id bigint not null references usage_batches on delete cascade,
  project_id text not null references projects,
  window_start timestamptz(3) not null check (window_start = date_trunc('hour', window_start, 'UTC')),
  requests bigint not null check (requests >= 1),
  bytes bigint not null check (bytes >= 0),
  transforms bigint not null,
  credits bigint not null,
  primary key (batch_id, project_id, window_start),
  constraint usage_batch_rows_transforms_are_requests check (transforms between 0 and requests),
  constraint usage_batch_rows_requests_cost_credits check (credits >= requests)
);
create index usage_batch_rows_by_hour on usage_batch_rows (window_start, project_id);
comment on table usage_batch_rows is 'What a batch says of a project in an hour (UTC); every delivery costs at least one credit.';

create table usage_hours (
  project_id text not null references projects,
  window_start timestamptz(3) not null check (window_start = date_trunc('hour', window_start, 'UTC')),
  requests bigint not null check (requests >= 0),
  bytes bigint not null check (bytes >= 0),
  transforms bigint not null,
  credits bigint not null,
  computed_at timestamptz(3) not null default now(),
  primary key (project_id, window_start),
  constraint usage_hours_transforms_are_requests check (transforms between 0 and requests),
  constraint usage_hours_requests_cost_credits check (credits >= requests)
);
create index usage_hours_by_hour on usage_hours (window_start, project_id);
comment on table usage_hours is 'The sum of an hour''s batches, and nothing else: computing it again changes nothing.';

create table usage_days (
  project_id text not null references projects,
  day date not null,
  requests bigint not null check (requests >= 0),
  bytes bigint not null check (bytes >= 0),
  transforms bigint not null,
  credits bigint not null,
  charged_credits bigint not null check (charged_credits >= 0),
  hours_closed smallint not null check (hours_closed between 0 and 24),
  finalized_at timestamptz(3),
  computed_at timestamptz(3) not null default now(),
  primary key (project_id, day),
  constraint usage_days_transforms_are_requests check (transforms between 0 and requests),
  constraint usage_days_requests_cost_credits check (credits >= requests),
  constraint usage_days_finalized_when_closed check ((finalized_at is not null) = (hours_closed = 24))
);
create index usage_days_by_day on usage_days (day, project_id);
comment on table usage_days is 'The sum of a day''s hours (UTC) and what was charged for it.';
comment on column usage_days.charged_credits is 'The sum of the day''s ledger entries.';
comment on column usage_days.hours_closed is 'How many of its hours were final when it was computed.';
comment on column usage_days.finalized_at is 'When it was computed with all of its hours final.';

create table ledger (
  entry_id bigint generated always as identity primary key,
  organization_id text not null references organizations,
  project_id text not null,
  day date not null,
  run text not null check (char_length(run) between 1 and 64),
  delta bigint not null constraint ledger_says_something check (delta <> 0),
  charged_credits bigint not null check (charged_credits >= 0),
  created_at timestamptz(3) not null default now(),
  constraint ledger_from_nothing check (charged_credits - delta >= 0),
  constraint ledger_of_the_projects_organization
    foreign key (project_id, organization_id) references projects (project_id, organization_id),
  constraint ledger_once_a_run unique (project_id, day, run)
);
create index ledger_of_organization on ledger (organization_id, created_at desc);
comment on table ledger is 'Charges as differences, each written in one transaction with the balance that it changes.';
comment on column ledger.run is 'The run of the daily charge that found the difference.';
comment on column ledger.delta is 'Credits taken from the balance; negative: given back.';
comment on column ledger.charged_credits is 'What the day costs in all after this entry; without delta it is what it cost before.';

-- Down Migration

drop table ledger;
drop table usage_days;
drop table usage_hours;
drop table usage_batch_rows;
drop table usage_batches;

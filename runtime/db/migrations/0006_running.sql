-- What the service itself needs to run. Spec: Rates.
-- Up Migration

create unlogged table rate_windows (
  scope text not null check (char_length(scope) <= 64),
  subject text not null check (char_length(subject) <= 255),
  window_start timestamptz(3) not null,
  count integer not null check (count >= 1),
  primary key (scope, subject, window_start)
);
create index rate_windows_by_age on rate_windows (window_start);
comment on table rate_windows is 'Fixed windows of a minute or an hour by the database''s clock. Not logged: a crash of the server only forgets counts.';
comment on column rate_windows.scope is 'What is limited, such as signed-url.';
comment on column rate_windows.subject is 'For whom: a project, a hashed address.';

create table job_runs (
  run_id bigint generated always as identity primary key,
  job text not null check (char_length(job) <= 64),
  scheduled_for timestamptz(3) not null,
  started_at timestamptz(3) not null default now(),
  lease_until timestamptz(3) not null,
  finished_at timestamptz(3),
  outcome text check (outcome in ('done', 'failed', 'lost')),
  error text,
  constraint job_runs_ends_with_an_outcome check ((finished_at is null) = (outcome is null))
);
create unique index job_runs_one_at_a_time on job_runs (job) where finished_at is null;
create index job_runs_newest_first on job_runs (job, started_at desc);
comment on table job_runs is 'Runs of scheduled jobs; of each job one at a time.';
comment on column job_runs.scheduled_for is 'The time as which it runs, which a person may set to catch up.';
comment on column job_runs.lease_until is 'A run that is not renewed until then counts as lost, and the next may start.';

-- Down Migration

drop table job_runs;
drop table rate_windows;

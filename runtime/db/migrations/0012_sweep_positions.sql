-- How far a sweep over a bucket has come: each run covers a part of it. Spec: Upload session (status).
-- Up Migration

create table sweep_positions (
  sweep text primary key,
  after_key text not null,
  updated_at timestamptz not null default now()
);
comment on table sweep_positions is 'Where the next run of a sweep over a bucket goes on; empty: at its beginning.';

alter table job_runs add counts jsonb not null default '{}';
comment on column job_runs.counts is 'How many of each thing the run did.';

-- Down Migration

alter table job_runs drop counts;

drop table sweep_positions;

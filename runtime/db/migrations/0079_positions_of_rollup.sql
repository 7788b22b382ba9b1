-- How far usage batches have been summed stands beside how far sweeps have come. Spec: Metering.
-- Up Migration

comment on table sweep_positions is 'Where the next run of a job that walks a bucket or sums usage batches continues; empty: at the beginning.';

-- Where the version before would continue.
insert into sweep_positions (sweep, after_key, updated_at)
select 'hourly-rollup', coalesce((select max(batch_id) from usage_batches where received_at < done.at - interval '10 minutes'), 0)::text, done.at
from (select max(started_at) as at from job_runs where job = 'hourly-rollup' and outcome = 'done') done where done.at is not null;

-- Down Migration

delete from sweep_positions where sweep = 'hourly-rollup';
comment on table sweep_positions is 'Where the next run of a sweep over a bucket goes on; empty: at its beginning.';

-- Usage batches by day: obsolete ones are dropped a day at a time, and a batch records the hours that it covers. Spec:
-- Metering.
-- Up Migration

alter table usage_batches
  add column hours timestamptz(3)[],
  add column lost_deliveries integer not null default 0 check (lost_deliveries >= 0);
comment on column usage_batches.hours is 'Each UTC hour that its rows speak of; null where the version that wrote it did not say.';
comment on column usage_batches.lost_deliveries is 'Deliveries before it that the server''s disk did not take: they are in no batch.';

-- The existing table becomes the partition of all days without one of their own: nothing is copied.
alter table usage_batch_rows drop constraint usage_batch_rows_batch_id_fkey;
alter table usage_batch_rows rename to usage_batch_rows_other;
alter index usage_batch_rows_pkey rename to usage_batch_rows_other_pkey;
alter index usage_batch_rows_by_hour rename to usage_batch_rows_other_by_hour;

create table usage_batch_rows (
  like usage_batch_rows_other including defaults including constraints,
  primary key (batch_id, project_id, window_start),
  foreign key (project_id) references projects
) partition by range (window_start);
create index usage_batch_rows_by_hour on usage_batch_rows (window_start, project_id);
alter table usage_batch_rows attach partition usage_batch_rows_other default;
comment on table usage_batch_rows is 'What a batch says of a project in an hour (UTC); every delivery costs at least one credit. A partition a day.';
comment on table usage_batch_rows_other is 'Rows of days without a partition of their own.';

-- Neither waits for long: a lock that waits would make everyone behind it wait too.
create function add_usage_day(day date) returns boolean language plpgsql set lock_timeout = '500ms' as $$
declare
  partition text := 'usage_batch_rows_' || to_char(day, 'YYYYMMDD');
  starts timestamptz := day::timestamp at time zone 'UTC';
  ends timestamptz := (day + 1)::timestamp at time zone 'UTC';
begin
  if to_regclass(partition) is not null
    or exists (select from usage_batch_rows_other where window_start >= starts and window_start < ends) then
    return false;
  end if;
  execute format('create table %I partition of usage_batch_rows for values from (%L) to (%L)', partition, starts, ends);
  execute format('comment on table %I is %L', partition, 'Usage batches of a day (UTC).');
  return true;
exception when lock_not_available or check_violation or duplicate_table then
  return false;
end $$;

create function drop_usage_days(before date) returns integer language plpgsql set lock_timeout = '500ms' as $$
declare
  partition regclass;
  dropped integer := 0;
begin
  for partition in
    select inhrelid::regclass from pg_inherits
    where inhparent = 'usage_batch_rows'::regclass and inhrelid::regclass::text ~ '_[0-9]{8}$'
      and to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') < before
  loop
    begin
      execute format('drop table %s', partition);
      dropped := dropped + 1;
    exception when lock_not_available then null;
    end;
  end loop;
  return dropped;
end $$;

select add_usage_day((now() at time zone 'UTC')::date + ahead) from generate_series(0, 7) ahead;

-- Down Migration

drop function add_usage_day, drop_usage_days;
alter table usage_batch_rows rename to usage_batch_rows_by_day;
alter index usage_batch_rows_pkey rename to usage_batch_rows_by_day_pkey;
alter index usage_batch_rows_by_hour rename to usage_batch_rows_by_day_by_hour;
create table usage_batch_rows (
  like usage_batch_rows_by_day including defaults including constraints,
  primary key (batch_id, project_id, window_start),
  foreign key (batch_id) references usage_batches on delete cascade,
  foreign key (project_id) references projects
);
create index usage_batch_rows_by_hour on usage_batch_rows (window_start, project_id);
insert into usage_batch_rows select * from usage_batch_rows_by_day where batch_id in (select batch_id from usage_batches);
drop table usage_batch_rows_by_day;
comment on table usage_batch_rows is 'What a batch says of a project in an hour (UTC); every delivery costs at least one credit.';
alter table usage_batches drop column hours, drop column lost_deliveries;

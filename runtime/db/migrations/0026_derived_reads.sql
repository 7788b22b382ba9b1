-- When derived images were last read. Spec: Delivery host.
-- Up Migration

create table derived_reads (
  derived_key text primary key,
  read_on date not null
);
comment on table derived_reads is 'Derived images that were read since they were rendered: those of the last month stay in the content bucket.';
comment on column derived_reads.read_on is 'The last day, in UTC, on which a delivery server handed it out.';

create index derived_reads_by_day on derived_reads (read_on);

-- Down Migration

drop table derived_reads;

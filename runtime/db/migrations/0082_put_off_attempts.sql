-- Tells attempts that were lost with their worker from those that ended with a failure on record. Spec: Upload session.
-- An attempt that a process of the version before puts off counts as lost: its upload is then processed alone.
-- Up Migration

alter table uploads add put_off_count integer not null default 0;
comment on column uploads.put_off_count is 'How many attempts failed on record, and left the upload to a later one. Earlier attempts beyond these were lost with their worker: from then on, the upload is processed alone.';

-- Down Migration

alter table uploads drop put_off_count;

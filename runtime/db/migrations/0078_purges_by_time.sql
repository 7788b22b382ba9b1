-- As for uploads: using the index of due purges by time requires a condition. Spec: Caching and response headers.
-- Up Migration

create index purges_due_anew on purges (run_after) where sent_at is null and run_after > '-infinity';
drop index purges_due;
alter index purges_due_anew rename to purges_due;

-- Down Migration

create index purges_due_anew on purges (run_after) where sent_at is null;
drop index purges_due;
alter index purges_due_anew rename to purges_due;

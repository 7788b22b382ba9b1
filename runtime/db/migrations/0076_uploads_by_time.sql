-- Analyzed while nothing waits, an index of all that waits by its time looks as good for finding the next project as the
-- one of projects, and is read as a whole for each of them. So it takes a condition, which always holds, to use it. Built
-- before the old one goes: reads wait for that moment alone. Spec: Upload session.
-- Up Migration

create index uploads_to_process_anew on uploads (uploaded_at) where status = 'uploaded' and uploaded_at > '-infinity';
drop index uploads_to_process;
alter index uploads_to_process_anew rename to uploads_to_process;
-- That of projects does its work.
drop index uploads_with_lease;

-- Down Migration

create index uploads_with_lease on uploads (lease_until) where status = 'processing';
create index uploads_to_process_anew on uploads (uploaded_at) where status = 'uploaded';
drop index uploads_to_process;
alter index uploads_to_process_anew rename to uploads_to_process;

-- Analyzed while nothing waits, an index of waiting uploads by time seems as good for finding the next project as the
-- index by project, and is then read as a whole for each project. So using it requires a condition, which is always
-- true. Built before the old index is dropped: reads wait only for that moment. Spec: Upload session.
-- Up Migration

create index uploads_to_process_anew on uploads (uploaded_at) where status = 'uploaded' and uploaded_at > '-infinity';
drop index uploads_to_process;
alter index uploads_to_process_anew rename to uploads_to_process;
-- The index by project replaces it.
drop index uploads_with_lease;

-- Down Migration

create index uploads_with_lease on uploads (lease_until) where status = 'processing';
create index uploads_to_process_anew on uploads (uploaded_at) where status = 'uploaded';
drop index uploads_to_process;
alter index uploads_to_process_anew rename to uploads_to_process;

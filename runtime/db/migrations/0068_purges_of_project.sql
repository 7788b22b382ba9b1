-- Purges are claimed of every project alike: which projects have any, and the oldest of each, is found by the index.
-- Spec: Caching and response headers.
-- Up Migration

create index purges_due_of_project on purges (project_id, run_after) where sent_at is null;

-- Down Migration

drop index purges_due_of_project;

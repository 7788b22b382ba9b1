-- Purges are claimed equally from every project: the index finds which projects have any, and the oldest of each. Spec:
-- Caching and response headers.
-- Up Migration

create index purges_due_of_project on purges (project_id, run_after) where sent_at is null;

-- Down Migration

drop index purges_due_of_project;

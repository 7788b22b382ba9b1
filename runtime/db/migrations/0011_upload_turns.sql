-- Whose turn is next: uploads are claimed fairly between projects. Spec: States and transitions.
-- Up Migration

create table upload_turns (
  project_id text primary key references projects,
  claimed_at timestamptz not null
);
comment on table upload_turns is 'When a worker last took an upload of a project: the project that waits longest is next.';

create index uploads_waiting_of_project on uploads (project_id, uploaded_at) where status = 'uploaded';
create index uploads_leased_of_project on uploads (project_id, lease_until) where status = 'processing';

-- Down Migration

drop index uploads_leased_of_project;
drop index uploads_waiting_of_project;
drop table upload_turns;

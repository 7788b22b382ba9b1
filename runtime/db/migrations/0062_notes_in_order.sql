-- Moderation notes are read newest first, of all projects, one project or one slug: a page reads no more rows than it
-- shows. Spec: Files, moderation-notes.
-- Up Migration

create index moderation_notes_newest on moderation_notes (created_at desc, (project_id || '/' || file_slug) desc);
create index moderation_notes_of_project
  on moderation_notes (project_id, created_at desc, (project_id || '/' || file_slug) desc);
create index moderation_notes_of_slug
  on moderation_notes (file_slug, created_at desc, (project_id || '/' || file_slug) desc);

-- Down Migration

drop index moderation_notes_of_slug;
drop index moderation_notes_of_project;
drop index moderation_notes_newest;

-- Notes by people of a project about a file, for its moderators. Spec: Files, moderation-notes.
-- Up Migration

create table moderation_notes (
  project_id text not null references projects,
  file_slug text collate "C" not null
    constraint moderation_notes_slug_shape check (file_slug ~ '^[a-z0-9][a-z0-9._-]{0,127}$'),
  note text not null check (char_length(note) between 1 and 4000),
  author text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, file_slug)
);
comment on table moderation_notes is 'One note per project and file slug; a second replaces it.';
comment on column moderation_notes.author is 'Subject of whoever wrote it last.';

-- Down Migration

drop table moderation_notes;

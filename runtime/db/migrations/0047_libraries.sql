-- Named libraries, which contain files and uploads of a project. Spec: Library; Libraries.
-- Up Migration

create table libraries (
  library_id text collate "C" primary key check (library_id ~ '^lib_[0-9a-z]{26}$'),
  project_id text not null references projects,
  library_slug text collate "C" not null constraint libraries_slug_shape
    check (library_slug ~ '^[a-z0-9][a-z0-9._-]{0,63}$' and library_slug <> 'default'),
  name text not null constraint libraries_name_length check (char_length(name) between 1 and 120),
  allowed_origins text[] not null default '{}'
    constraint libraries_origins_count check (cardinality(allowed_origins) <= 200),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint libraries_in_project unique (project_id, library_id)
);
create unique index libraries_one_live_slug on libraries (project_id, library_slug) where deleted_at is null;
create index libraries_of_project on libraries (project_id, created_at desc, library_id desc) where deleted_at is null;
comment on table libraries is 'Named libraries. A deleted one keeps its row; its slug is free again.';
comment on column libraries.allowed_origins is 'Which pages may embed its picker, beside those of projects.library_origins.';

alter table projects add column library_origins text[] not null default '{}'
  constraint projects_library_origins_count check (cardinality(library_origins) <= 200);
comment on column projects.library_origins is 'Allowed origins of the default library, which go for every library of the project.';

alter table files add constraint files_library_of_project
  foreign key (project_id, library_id) references libraries (project_id, library_id);
alter table uploads add constraint uploads_library_of_project
  foreign key (project_id, library_id) references libraries (project_id, library_id);
-- For the check that a library is empty before it is deleted.
create index files_in_named_library on files (library_id) where library_id is not null and status <> 'deleted';
create index uploads_into_named_library on uploads (library_id)
  where library_id is not null and status in ('created', 'uploaded', 'processing');

-- Down Migration

drop index uploads_into_named_library;
drop index files_in_named_library;
alter table uploads drop constraint uploads_library_of_project;
alter table files drop constraint files_library_of_project;
alter table projects drop column library_origins;
drop table libraries;

-- Names are compared in lower case for every script, not only A to Z. Where the library indexes were built, the one of
-- names is rebuilt: meanwhile files cannot be written, but can be read until the old index is dropped. Spec: Files
-- (sort).
-- Up Migration

do $$ begin
  if to_regclass('files_library_names') is not null then
    create index files_library_names_anew on files (project_id, (coalesce(library_id, '')),
      (lower(coalesce(original_filename, file_slug) collate "und-x-icu") collate "C"), position)
      where status <> 'deleted';
    drop index files_library_names;
    alter index files_library_names_anew rename to files_library_names;
  end if;
end $$;

-- Down Migration

do $$ begin
  if to_regclass('files_library_names') is not null then
    create index files_library_names_anew on files (project_id, (coalesce(library_id, '')),
      (lower(coalesce(original_filename, file_slug)) collate "C"), position)
      where status <> 'deleted';
    drop index files_library_names;
    alter index files_library_names_anew rename to files_library_names;
  end if;
end $$;

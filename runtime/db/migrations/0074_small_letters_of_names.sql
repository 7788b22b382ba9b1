-- Names are compared in small letters of every script, not of A to Z alone. Where the indexes of libraries were built,
-- that of names is built anew: nobody writes files meanwhile, and they are read until the old one goes. Spec: Files (sort).
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

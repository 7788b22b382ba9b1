-- Finds deleted files and ended uploads that still hold data about pictures and people, without reading others. Spec:
-- File (status); Upload session (status).
-- Up Migration

alter table files validate constraint files_erased;
create index files_to_erase on files (deleted_at, file_id) where status = 'deleted' and erased_at is null;

-- If an upload became a file, its folder is erased with that file.
create index uploads_to_erase on uploads (updated_at)
  where status in ('ready', 'failed', 'expired')
    and (num_nonnulls(title, original_filename, uploader) > 0 or (folder <> '' and status <> 'ready'));

-- Down Migration

drop index uploads_to_erase;
drop index files_to_erase;

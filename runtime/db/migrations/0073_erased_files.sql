-- Data about the picture and about people is erased from a deleted file's row after a time. Spec: File (status).
-- Up Migration

-- Reads and writes wait for this lock: no statement that scans the table runs under it.
alter table files add erased_at timestamptz(3),
  add constraint files_erased check (
    erased_at is null
    or (status = 'deleted' and folder = '' and num_nonnulls(title, alt_text, original_filename, uploader,
      taken_at, latitude, longitude) = 0)) not valid;
comment on column files.erased_at is 'When what tells of the picture and of people was taken out of the row of a deleted file.';

-- Down Migration

alter table files drop erased_at;

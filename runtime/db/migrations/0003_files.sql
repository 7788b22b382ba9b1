-- Uploads, files and their revisions, and what draws from them. Spec: Upload session; File; Watermark preset; Recipe.
-- Up Migration

create table uploads (
  upload_id text primary key check (upload_id ~ '^upl_[0-9a-z]{26}$'),
  project_id text not null references projects,
  file_slug text collate "C" not null
    constraint uploads_slug_shape check (file_slug ~ '^[a-z0-9][a-z0-9._-]{0,127}$'),
  status text not null default 'created'
    check (status in ('created', 'uploaded', 'processing', 'ready', 'failed', 'expired')),
  mode text not null check (mode in ('direct', 'proxy')),
  content_type text not null,
  size_bytes bigint not null check (size_bytes >= 1),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  ingest_key text not null unique,
  storage_upload_id text,
  part_count integer check (part_count between 2 and 10000),
  part_size bigint check (part_size >= 1),
  library_id text,
  folder text not null default '' check (char_length(folder) <= 255),
  title text check (char_length(title) <= 200),
  original_filename text check (char_length(original_filename) <= 255),
  uploader bytea,
  library_session_id text,
  reserved_bytes bigint not null generated always as
    (case when status in ('created', 'uploaded', 'processing') then size_bytes else 0 end) stored,
  attempt integer not null default 0 check (attempt >= 0),
  timeout_count integer not null default 0 check (timeout_count between 0 and attempt),
  excused_count integer not null default 0 check (excused_count between 0 and attempt),
  lease_until timestamptz(3),
  error_code text constraint uploads_error_code_known check (
    error_code in (
      'unsupported_media_type', 'animated_not_supported', 'image_too_large', 'processing_timeout',
      'decode_failed', 'ingest_size_mismatch', 'sha256_mismatch', 'file_too_large',
      'ingest_object_missing', 'processing_abandoned', 'session_expired'
    )),
  file_id text,
  revision integer,
  expires_at timestamptz(3) not null,
  uploaded_at timestamptz(3),
  ready_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint uploads_multipart_whole
    check (num_nulls(storage_upload_id, part_count, part_size) in (0, 3) and (part_count is null or mode = 'direct')),
  constraint uploads_failure_names_its_code
    check ((status in ('failed', 'expired')) = (error_code is not null)),
  constraint uploads_ready_names_its_revision
    check ((status = 'ready') = (num_nulls(ready_at, file_id, revision) = 0)
      and num_nulls(ready_at, file_id, revision) in (0, 3)),
  constraint uploads_processing_is_leased check ((status = 'processing') = (lease_until is not null)),
  constraint uploads_uploaded_at_a_time
    check (status not in ('uploaded', 'processing', 'ready') or uploaded_at is not null)
);
create trigger uploads_project_fixed before update of project_id on uploads
  for each row when (new.project_id <> old.project_id) execute function refuse_row();
create trigger uploads_ended_for_good before update of status on uploads
  for each row when (old.status in ('ready', 'failed', 'expired') and new.status <> old.status)
  execute function refuse_row();
create index uploads_of_project on uploads (project_id, created_at desc, upload_id desc);
create index uploads_of_project_by_status on uploads (project_id, status, created_at desc, upload_id desc);
create index uploads_open on uploads (upload_id) where status = 'created';
create index uploads_to_process on uploads (uploaded_at) where status = 'uploaded';
create index uploads_with_lease on uploads (lease_until) where status = 'processing';
create index uploads_of_library_session on uploads (library_session_id) where library_session_id is not null;
comment on table uploads is 'Upload sessions: one image on its way in.';
comment on column uploads.size_bytes is 'Declared, exact.';
comment on column uploads.sha256 is 'Declared by the client, verified before publishing; null where none was declared.';
comment on column uploads.ingest_key is 'Key of the bytes in the ingest bucket.';
comment on column uploads.storage_upload_id is 'The storage''s name of a multipart upload; null for a single part.';
comment on column uploads.library_id is 'Null: the project''s default library.';
comment on column uploads.uploader is 'HMAC of the end user''s subject, for uploads of a library session.';
comment on column uploads.reserved_bytes is 'Counts against the storage limit until the upload is ready, failed or expired.';
comment on column uploads.attempt is 'Raised before each attempt at processing: a result is accepted only under the number it began with.';
comment on column uploads.timeout_count is 'How many attempts ended by the clock.';
comment on column uploads.excused_count is 'How many attempts ended because database or storage were away, or with the whole installation: the image is not at fault.';
comment on column uploads.lease_until is 'Until then the attempt''s worker alone works on it; afterwards any worker may take it over.';

create table files (
  file_id text primary key check (file_id ~ '^file_[0-9a-z]{26}$'),
  project_id text not null references projects,
  file_slug text collate "C" not null
    constraint files_slug_shape check (file_slug ~ '^[a-z0-9][a-z0-9._-]{0,127}$'),
  status text not null default 'ready' check (status in ('ready', 'blocked', 'deleted')),
  revision integer not null check (revision >= 1),
  size_bytes bigint not null,
  library_id text,
  folder text not null default '' check (char_length(folder) <= 255),
  title text check (char_length(title) <= 200),
  alt_text text check (char_length(alt_text) <= 1000),
  original_filename text check (char_length(original_filename) <= 255),
  uploader bytea,
  taken_at timestamptz(3),
  latitude double precision check (latitude between -90 and 90),
  longitude double precision check (longitude between -180 and 180),
  blocked_by text check (blocked_by in ('scanner', 'staff')),
  blocked_reason text check (char_length(blocked_reason) <= 500),
  blocked_at timestamptz(3),
  block_count integer not null default 0 check (block_count >= 0),
  unblock_count integer not null default 0 check (unblock_count between 0 and block_count),
  deleted_at timestamptz(3),
  published_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint files_in_project unique (project_id, file_id),
  constraint files_block_names_its_author
    check (status = 'deleted' or ((status = 'blocked') = (blocked_by is not null))),
  constraint files_block_whole check (num_nulls(blocked_by, blocked_at) in (0, 2)),
  constraint files_deleted_at_a_time check ((status = 'deleted') = (deleted_at is not null)),
  constraint files_location_whole check (num_nulls(latitude, longitude) in (0, 2))
);
create trigger files_project_fixed before update of project_id on files
  for each row when (new.project_id <> old.project_id) execute function refuse_row();
create unique index files_one_live_slug on files (project_id, file_slug) where status <> 'deleted';
create index files_of_project on files (project_id, created_at desc, file_id desc);
create index files_of_project_by_status on files (project_id, status, created_at desc, file_id desc);
create index files_of_slug on files (project_id, file_slug, created_at desc);
comment on table files is 'Published images by slug. A deleted file keeps its row; a later upload of its slug is a new file.';
comment on column files.revision is 'The current row of file_revisions.';
comment on column files.size_bytes is 'Of that revision''s master: what the file adds to projects.storage_bytes while it is not deleted.';
comment on column files.library_id is 'Null: the project''s default library.';
comment on column files.uploader is 'HMAC of the subject that uploaded the current revision through a library session.';
comment on column files.taken_at is 'When the picture was taken, with the place in latitude and longitude: from the current revision''s metadata.';
comment on column files.blocked_by is 'Kept when a blocked file is deleted: its slug''s next file then starts blocked.';
comment on column files.block_count is 'Blocks so far, and unblocks beside it: what makes the ids of their events differ.';
comment on column files.published_at is 'When the current revision was published.';

create table file_revisions (
  file_id text not null references files deferrable initially deferred,
  revision integer not null check (revision >= 1),
  previous_revision integer generated always as (nullif(revision - 1, 0)) stored,
  upload_id text not null constraint file_revisions_one_an_upload unique references uploads,
  object_key text not null unique,
  content_type text not null,
  size_bytes bigint not null check (size_bytes >= 1),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  source_content_type text not null,
  source_size_bytes bigint not null check (source_size_bytes >= 1),
  source_sha256 text not null check (source_sha256 ~ '^[0-9a-f]{64}$'),
  width integer not null check (width >= 1),
  height integer not null check (height >= 1),
  has_alpha boolean not null,
  is_lossless boolean not null,
  focal_x double precision not null default 0.5 check (focal_x between 0 and 1),
  focal_y double precision not null default 0.5 check (focal_y between 0 and 1),
  dominant_color text not null check (dominant_color ~ '^#[0-9a-f]{6}$'),
  thumb_hash bytea check (octet_length(thumb_hash) <= 64),
  mezzanines jsonb not null default '[]' check (jsonb_typeof(mezzanines) = 'array'),
  raw_object_key text unique,
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  created_at timestamptz(3) not null default now(),
  primary key (file_id, revision),
  constraint file_revisions_size unique (file_id, revision, size_bytes),
  constraint file_revisions_gapless
    foreign key (file_id, previous_revision) references file_revisions (file_id, revision)
);
alter table files add constraint files_current_revision
  foreign key (file_id, revision, size_bytes) references file_revisions (file_id, revision, size_bytes)
  deferrable initially deferred;
alter table uploads add constraint uploads_ready_revision_exists
  foreign key (file_id, revision) references file_revisions (file_id, revision);
comment on table file_revisions is 'What was published under a file, revision by revision; rows stay when their bytes are gone.';
comment on column file_revisions.previous_revision is 'Refers to the row before, so that revisions have no gaps; null for the first.';
comment on column file_revisions.object_key is 'Key of the sanitized image (the master) in the content bucket; written once, never again.';
comment on column file_revisions.sha256 is 'Of the master.';
comment on column file_revisions.source_sha256 is 'Of the bytes that were uploaded and verified.';
comment on column file_revisions.width is 'Pixels after orientation, like height; for SVG the raster grid.';
comment on column file_revisions.focal_x is 'The most interesting point, as fractions of width and height: what smart crops around.';
comment on column file_revisions.mezzanines is 'Half-way images that renders read: long_edge, width, height, object_key, content_type, size_bytes each.';
comment on column file_revisions.raw_object_key is 'The pixels in their own colour space for raw downloads; null where the master serves.';
comment on column file_revisions.metadata is 'Saved metadata by kind (exif, icc, xmp): keys in the content bucket.';

-- The counters of a project follow its rows. Each statement records, in a setting of the
-- transaction, by how much it changed the rows and the counters; at commit the two must be equal.
-- So a transaction only pays for what it changes, however large the project, and takes no lock.
-- Other transactions do not matter: each is checked by its own changes.
create function note_project_counters() returns trigger language plpgsql as $$
declare
  noted jsonb := coalesce(nullif(current_setting('tintype.counters', true), ''), '{}');
  project text := case tg_op when 'DELETE' then old.project_id else new.project_id end;
  files bigint := coalesce(noted -> project ->> 0, '0');
  stored bigint := coalesce(noted -> project ->> 1, '0');
  reserved bigint := coalesce(noted -> project ->> 2, '0');
begin
  if tg_table_name = 'projects' then
    if tg_op <> 'INSERT' then
      files := files + old.file_count;
      stored := stored + old.storage_bytes;
      reserved := reserved + old.reserved_bytes;
    end if;
    if tg_op <> 'DELETE' then
      files := files - new.file_count;
      stored := stored - new.storage_bytes;
      reserved := reserved - new.reserved_bytes;
    end if;
  elsif tg_table_name = 'files' then
    if tg_op <> 'INSERT' and old.status <> 'deleted' then
      files := files - 1;
      stored := stored - old.size_bytes;
    end if;
    if tg_op <> 'DELETE' and new.status <> 'deleted' then
      files := files + 1;
      stored := stored + new.size_bytes;
    end if;
  else
    reserved := reserved + case when tg_op = 'DELETE' then 0 else new.reserved_bytes end
      - case when tg_op = 'INSERT' then 0 else old.reserved_bytes end;
  end if;
  perform set_config('tintype.counters',
    (noted || jsonb_build_object(project, jsonb_build_array(files, stored, reserved)))::text, true);
  return null;
end
$$;
create function check_project_counters() returns trigger language plpgsql as $$
declare
  noted jsonb := coalesce(nullif(current_setting('tintype.counters', true), ''), '{}');
  project text := case tg_op when 'DELETE' then old.project_id else new.project_id end;
begin
  if noted -> project <> '[0, 0, 0]' then
    raise check_violation using constraint = tg_name, table = tg_table_name,
      message = 'file_count, storage_bytes and reserved_bytes of a project must change as its files and uploads do',
      detail = format('Rows minus counters of %s: files, storage_bytes, reserved_bytes = %s.', project, noted -> project);
  end if;
  return null;
end
$$;
create trigger projects_counters_noted after insert or delete or update of file_count, storage_bytes, reserved_bytes on projects
  for each row execute function note_project_counters();
create constraint trigger projects_counters_agree after insert or delete or update of file_count, storage_bytes, reserved_bytes on projects
  deferrable initially deferred for each row execute function check_project_counters();
create trigger files_counters_noted after insert or delete or update of status, size_bytes on files
  for each row execute function note_project_counters();
create constraint trigger files_counters_agree after insert or delete or update of status, size_bytes on files
  deferrable initially deferred for each row execute function check_project_counters();
create trigger uploads_counters_noted after insert or delete or update of status, size_bytes on uploads
  for each row execute function note_project_counters();
create constraint trigger uploads_counters_agree after insert or delete or update of status, size_bytes on uploads
  deferrable initially deferred for each row execute function check_project_counters();

create table watermark_presets (
  watermark_preset_id text primary key check (watermark_preset_id ~ '^wm_[0-9a-z]{26}$'),
  project_id text not null references projects,
  name text not null check (char_length(name) between 1 and 120),
  file_id text not null,
  x_offset integer not null default 0,
  y_offset integer not null default 0,
  opacity smallint not null default 100 check (opacity between 0 and 100),
  owner_uid text unique,
  owner_namespace text,
  owner_name text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint watermark_presets_name_taken unique (project_id, name),
  constraint watermark_presets_file_in_project
    foreign key (project_id, file_id) references files (project_id, file_id),
  constraint watermark_presets_in_project unique (project_id, watermark_preset_id),
  constraint watermark_presets_owner_whole check (num_nulls(owner_uid, owner_namespace, owner_name) in (0, 3))
);
create index watermark_presets_of_file on watermark_presets (file_id);
alter table projects add constraint projects_default_watermark_in_use
  foreign key (project_id, default_watermark_preset_id)
  references watermark_presets (project_id, watermark_preset_id);
comment on table watermark_presets is 'Images to draw onto derived ones; a preset follows its file''s current revision.';
comment on column watermark_presets.x_offset is 'Output pixels from the left, negative from the right; y_offset from the top or bottom.';

create table recipes (
  recipe_id text primary key check (recipe_id ~ '^rcp_[0-9a-z]{26}$'),
  project_id text not null references projects,
  name text not null check (char_length(name) between 1 and 120),
  transform_chain text not null,
  schema_version smallint not null default 1 check (schema_version = 1),
  owner_uid text unique,
  owner_namespace text,
  owner_name text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint recipes_name_taken unique (project_id, name),
  constraint recipes_owner_whole check (num_nulls(owner_uid, owner_namespace, owner_name) in (0, 3))
);
create index recipes_of_project on recipes (project_id, created_at desc, recipe_id desc);
comment on table recipes is 'Stored names for transform chains.';

create table doomed_objects (
  doomed_id bigint generated always as identity primary key,
  bucket text not null check (bucket in ('ingest', 'content')),
  object_key text not null,
  file_id text,
  revision integer,
  delete_after timestamptz(3) not null,
  attempt integer not null default 0 check (attempt >= 0),
  created_at timestamptz(3) not null default now(),
  constraint doomed_objects_once unique (bucket, object_key),
  constraint doomed_objects_revision_whole check (num_nulls(file_id, revision) in (0, 2)),
  foreign key (file_id, revision) references file_revisions (file_id, revision)
);
create index doomed_objects_due on doomed_objects (delete_after);
comment on table doomed_objects is 'Bytes that nothing needs any more, deleted after a time of grace and re-checked before.';
comment on column doomed_objects.file_id is 'With revision: whose bytes they are. Never deleted while that revision is served.';
comment on column doomed_objects.delete_after is 'Moved on by each attempt, so that a failed deletion is tried again.';

-- Down Migration

drop table doomed_objects;
drop table recipes;
alter table projects drop constraint projects_default_watermark_in_use;
drop table watermark_presets;
drop trigger projects_counters_agree on projects;
drop trigger projects_counters_noted on projects;
alter table files drop constraint files_current_revision;
alter table uploads drop constraint uploads_ready_revision_exists;
drop table file_revisions;
drop table files;
drop table uploads;
drop function check_project_counters;
drop function note_project_counters;

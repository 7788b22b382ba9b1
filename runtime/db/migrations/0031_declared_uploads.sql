-- Images that a resource declares. Spec: Watermark preset.
-- Up Migration

create table declared_uploads (
  upload_id text primary key references uploads on delete cascade,
  owner_namespace text not null,
  owner_name text not null
);
comment on table declared_uploads is 'Uploads that the operator made of an image that a resource declares: what a resource may replace is what it brought.';

-- Down Migration

drop table declared_uploads;

-- Bytes that were compared with the declared digest are read only once, and a proxy upload outlives its time only for a
-- PUT that has begun. Spec: Upload session (status).
-- Up Migration

alter table uploads
  add column refused_etag text,
  add column refused_sha256 text,
  add column put_began_at timestamptz(3),
  add constraint uploads_refused_whole check ((refused_etag is null) = (refused_sha256 is null));
-- Processes of the previous version do not record the start of a PUT.
update uploads set put_began_at = now() where status = 'created' and mode = 'proxy';
comment on column uploads.refused_etag is 'The stored object whose bytes last had another digest than declared; compared anew once others came.';
comment on column uploads.refused_sha256 is 'The digest of those bytes; hex.';
comment on column uploads.put_began_at is 'When bytes last began to come through the proxy; null where none did.';

-- Down Migration

alter table uploads
  drop constraint uploads_refused_whole,
  drop column refused_etag, drop column refused_sha256, drop column put_began_at;

-- The tag by which a CDN knows the images of a purged file. Spec: Caching and response headers.
-- Up Migration

alter table purges add file_id text;
comment on column purges.file_id is 'The file that had the slug: the tag of its images. Null beside a slug: written before this column.';

-- Down Migration

alter table purges drop file_id;

-- A custom domain that left is forgotten by caches that know hosts alone: its project has it no more when the purge is
-- sent. Spec: Caching and response headers.
-- Up Migration

alter table purges add left_domains text[];
comment on column purges.left_domains is 'Custom domains that the project was served at before, and is no more.';

-- Down Migration

alter table purges drop left_domains;

-- Caches that purge whole hosts must also purge a custom domain that left: its project no longer has it when the purge
-- is sent. Spec: Caching and response headers.
-- Up Migration

alter table purges add left_domains text[];
comment on column purges.left_domains is 'Custom domains that the project was served at before, and is no more.';

-- Down Migration

alter table purges drop left_domains;

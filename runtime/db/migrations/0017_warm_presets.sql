-- Presets that are rendered when a file is published. Spec: Project; Delivery host.
-- Up Migration

alter table projects add warm_presets text[] not null default '{}';
comment on column projects.warm_presets is 'Names of resolution presets that are rendered as soon as a file is published, where nobody waits.';

-- Down Migration

alter table projects drop warm_presets;

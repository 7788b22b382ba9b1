-- Whether a project sleeps only because its resource was deleted, so that one declared anew wakes nothing that its owner
-- had suspended. Spec: Project (status).
-- Up Migration

alter table projects add column suspended_by_deletion boolean not null default false;
comment on column projects.suspended_by_deletion is 'Deleting its resource suspended it, and nobody has set its state since.';

-- Of those that were deleted before this was kept, a resource that comes back wakes each, as it did until now.
update projects set suspended_by_deletion = true
where owner_uid is null and owner_deletion_policy = 'suspend' and suspended_by = 'owner';

-- Down Migration

alter table projects drop column suspended_by_deletion;

-- Whether a project is suspended only because its resource was deleted, so that declaring it again does not wake what
-- its owner had suspended. Spec: Project (status).
-- Up Migration

alter table projects add column suspended_by_deletion boolean not null default false;
comment on column projects.suspended_by_deletion is 'Deleting its resource suspended it, and nobody has set its state since.';

-- If a resource was deleted before this was recorded, its return wakes the project, as before.
update projects set suspended_by_deletion = true
where owner_uid is null and owner_deletion_policy = 'suspend' and suspended_by = 'owner';

-- Down Migration

alter table projects drop column suspended_by_deletion;

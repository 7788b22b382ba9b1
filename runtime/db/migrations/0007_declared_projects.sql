-- What outlives the resource that declared a project. Spec: Project (status).
-- Up Migration

alter table projects
  add column owner_deletion_policy text check (owner_deletion_policy in ('suspend', 'retain')),
  drop constraint projects_owner_whole,
  add constraint projects_owner_whole check (
    num_nulls(owner_namespace, owner_name, owner_deletion_policy) in (0, 3)
    and (owner_uid is null or owner_name is not null)
  );
comment on column projects.owner_uid is 'UID of the custom resource that declares this project. Null once that was deleted; its namespace and name stay, so that it can come back.';
comment on column projects.owner_deletion_policy is 'What deleting the resource does to the project, known also when the resource is gone already.';

-- Down Migration

update projects set owner_namespace = null, owner_name = null where owner_uid is null;
alter table projects
  drop constraint projects_owner_whole,
  drop column owner_deletion_policy,
  add constraint projects_owner_whole check (num_nulls(owner_uid, owner_namespace, owner_name) in (0, 3));
comment on column projects.owner_uid is 'UID of the custom resource that declares this project, with its namespace and name.';

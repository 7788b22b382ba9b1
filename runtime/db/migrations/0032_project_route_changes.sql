-- What the operator's routes depend on, and when it changed. Spec: Project (custom_domains).
-- Up Migration

create sequence project_route_versions;

create table project_route_changes (
  project_id text primary key references projects on delete cascade,
  version bigint not null default nextval('project_route_versions')
);
comment on table project_route_changes is 'Projects whose delivery hosts changed, each with the number of its last change: what an operator looks at, in place of all projects.';
comment on column project_route_changes.version is 'Grows with every change. A later number may be seen before an earlier one.';

create index project_route_changes_by_version on project_route_changes (version);

create function note_project_route() returns trigger language plpgsql as $$
begin
  insert into project_route_changes (project_id)
  values (case when tg_op = 'DELETE' then old.project_id else new.project_id end)
  on conflict (project_id) do update set version = nextval('project_route_versions');
  return null;
end
$$;
comment on function note_project_route is 'Numbers a change of the delivery hosts of a project.';

create trigger project_domains_routed after insert or update or delete on project_domains
  for each row execute function note_project_route();

-- Down Migration

drop trigger project_domains_routed on project_domains;
drop function note_project_route();
drop table project_route_changes;
drop sequence project_route_versions;

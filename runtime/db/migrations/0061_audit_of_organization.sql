-- The audit log of an organization is found by an index, including its projects' entries: a project never changes its
-- organization. Spec: Staff (all require Staff).
-- Up Migration

create function name_organization() returns trigger language plpgsql as $$
begin
  select organization_id into new.organization_id from projects where project_id = new.project_id;
  return new;
end
$$;
comment on function name_organization is 'What is done in a project is done in its organization, whoever writes it down.';

-- Most of it before anything is locked: entries never change, and new ones can be written
-- meanwhile.
update audit_log a set organization_id = p.organization_id
from projects p where p.project_id = a.project_id and a.organization_id is null;

create trigger audit_log_organization before insert on audit_log
  for each row when (new.organization_id is null and new.project_id is not null) execute function name_organization();

-- The entries written before the trigger existed.
update audit_log a set organization_id = p.organization_id
from projects p where p.project_id = a.project_id and a.organization_id is null;

create index audit_log_of_organization on audit_log (organization_id, created_at desc, audit_id desc)
  where organization_id is not null;

-- Down Migration

drop index audit_log_of_organization;
drop trigger audit_log_organization on audit_log;
drop function name_organization();

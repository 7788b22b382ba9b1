-- The trail of an organization is found by an index, what was done in its projects too: a project stays in the one that it
-- was made in. Spec: Staff (all require Staff).
-- Up Migration

create function name_organization() returns trigger language plpgsql as $$
begin
  select organization_id into new.organization_id from projects where project_id = new.project_id;
  return new;
end
$$;
comment on function name_organization is 'What is done in a project is done in its organization, whoever writes it down.';

-- Most of it before anything is locked: nobody changes an entry, and new ones are written meanwhile.
update audit_log a set organization_id = p.organization_id
from projects p where p.project_id = a.project_id and a.organization_id is null;

create trigger audit_log_organization before insert on audit_log
  for each row when (new.organization_id is null and new.project_id is not null) execute function name_organization();

-- Those that came before the trigger did.
update audit_log a set organization_id = p.organization_id
from projects p where p.project_id = a.project_id and a.organization_id is null;

create index audit_log_of_organization on audit_log (organization_id, created_at desc, audit_id desc)
  where organization_id is not null;

-- Down Migration

drop index audit_log_of_organization;
drop trigger audit_log_organization on audit_log;
drop function name_organization();

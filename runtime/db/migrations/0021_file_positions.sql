-- The order in which a project's files arrived: lists of any size read by it. Spec: Files; Conventions.
-- Up Migration

alter table files add position bigint;
update files set position = counted.position
from (
  select file_id, row_number() over (partition by project_id order by created_at, file_id) as position from files
) counted
where counted.file_id = files.file_id;
alter table files alter position set not null,
  add constraint files_in_order unique (project_id, position);
comment on column files.position is 'Counts the project''s files from 1, whatever became of them: lists go by it, newest first.';

-- Numbered under the project's row lock, which publishing already holds: positions follow the order
-- of commits.
create function place_file() returns trigger language plpgsql as $$
begin
  perform from projects where project_id = new.project_id for no key update;
  select coalesce(max(position), 0) + 1 into new.position from files where project_id = new.project_id;
  return new;
end
$$;
create trigger files_placed before insert on files
  for each row when (new.position is null) execute function place_file();

create index files_live_in_order on files (project_id, position desc) where status <> 'deleted';
create index files_by_status_in_order on files (project_id, status, position desc);
drop index files_of_project;
drop index files_of_project_by_status;

-- Finds the newest slugs with a prefix without reading the others: positions are on shelves of
-- 2,048 and in slots of 32, each sorted by slug. A query first checks whether a shelf has the
-- prefix, and only then reads its slots. Each key is one text, so that no other index seems to fit
-- as well, whatever the planner assumes about the table.
create index files_on_shelves
  on files ((project_id || '/' || status || '/' || (position >> 11)::text || '/' || file_slug));
create index files_in_slots
  on files ((project_id || '/' || status || '/' || (position >> 5)::text || '/' || file_slug));

-- Down Migration

create index files_of_project on files (project_id, created_at desc, file_id desc);
create index files_of_project_by_status on files (project_id, status, created_at desc, file_id desc);
drop trigger files_placed on files;
drop function place_file;
alter table files drop position;

-- Declared rows that somebody else changed, so that an operator reconciles them at once. Spec: Project (status).
-- Up Migration

create sequence declared_row_versions;

create table declared_row_changes (
  kind text not null check (kind in ('Project', 'SigningKey', 'WatermarkPreset', 'Recipe')),
  owner_namespace text not null,
  owner_name text not null,
  version bigint not null default nextval('declared_row_versions'),
  primary key (kind, owner_namespace, owner_name)
);
comment on table declared_row_changes is 'Resources whose rows somebody else than the operator changed, until an operator has seen it.';
comment on column declared_row_changes.version is 'Another one with each change, so that none is deleted unseen.';

create index declared_row_changes_by_version on declared_row_changes (version);

create function note_declared(kind text, owner_namespace text, owner_name text) returns void language plpgsql as $$
begin
  -- The operator sets it in each of its transactions: it knows what it writes.
  if owner_name is null or current_setting('tintype.declares', true) = 'on' then return; end if;
  insert into declared_row_changes as changed (kind, owner_namespace, owner_name)
  values (note_declared.kind, note_declared.owner_namespace, note_declared.owner_name)
  on conflict on constraint declared_row_changes_pkey do update set version = nextval('declared_row_versions');
end
$$;
comment on function note_declared is 'Numbers a change of what a resource declares, unless the operator makes it.';

create function note_declared_row() returns trigger language plpgsql as $$
begin
  perform note_declared(
    tg_argv[0],
    coalesce(new.owner_namespace, old.owner_namespace),
    coalesce(new.owner_name, old.owner_name)
  );
  return null;
end
$$;
comment on function note_declared_row is 'Of a row that names its resource.';

create function note_project_of_row() returns trigger language plpgsql as $$
begin
  perform note_declared('Project', owner_namespace, owner_name)
  from projects where project_id = coalesce(new.project_id, old.project_id);
  return null;
end
$$;
comment on function note_project_of_row is 'Of a row that its project''s resource declares, or tells of in its status.';

create function note_presets_of_file() returns trigger language plpgsql as $$
begin
  perform note_declared('WatermarkPreset', owner_namespace, owner_name)
  from watermark_presets where file_id = new.file_id order by watermark_preset_id;
  return null;
end
$$;
comment on function note_presets_of_file is 'Of a file that was blocked, deleted or replaced under the presets that draw it.';

create trigger projects_declared after insert or delete or update of
    name, delivery_access, cors_allowed_origins, resolution_presets, allowed_transform_chains,
    default_watermark_preset_id, raw_download_enabled, callback_url, callback_secret_sealed,
    previous_callback_secret_sealed, previous_callback_secret_until, callback_rotation_trigger, status, suspended_by,
    suspended_by_deletion, storage_hard_limit_bytes, nudity_auto_block, warm_presets, library_origins, version, owner_uid, owner_namespace,
    owner_name, owner_deletion_policy
  on projects for each row execute function note_declared_row('Project');
create trigger signing_keys_declared after insert or delete or update of
    status, retire_after, rotation_trigger, owner_uid, owner_namespace, owner_name
  on signing_keys for each row execute function note_declared_row('SigningKey');
create trigger watermark_presets_declared after insert or update or delete on watermark_presets
  for each row execute function note_declared_row('WatermarkPreset');
create trigger recipes_declared after insert or update or delete on recipes
  for each row execute function note_declared_row('Recipe');
create trigger project_domains_declared after insert or update or delete on project_domains
  for each row execute function note_project_of_row();
create trigger project_pricing_declared after insert or update or delete on project_pricing
  for each row execute function note_project_of_row();
create trigger signing_keys_of_declared after insert or delete or update of status on signing_keys
  for each row execute function note_project_of_row();
create trigger files_of_declared after update of status, revision on files
  for each row when (new.status <> old.status or new.revision <> old.revision) execute function note_presets_of_file();

-- Down Migration

drop trigger files_of_declared on files;
drop trigger signing_keys_of_declared on signing_keys;
drop trigger project_pricing_declared on project_pricing;
drop trigger project_domains_declared on project_domains;
drop trigger recipes_declared on recipes;
drop trigger watermark_presets_declared on watermark_presets;
drop trigger signing_keys_declared on signing_keys;
drop trigger projects_declared on projects;
drop function note_presets_of_file();
drop function note_project_of_row();
drop function note_declared_row();
drop function note_declared(text, text, text);
drop table declared_row_changes;
drop sequence declared_row_versions;

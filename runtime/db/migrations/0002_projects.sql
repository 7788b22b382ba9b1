-- Projects, their hosts, prices and keys. Spec: Project; API key; Signing key.
-- Up Migration

create table projects (
  project_id text primary key check (project_id ~ '^prj_[0-9a-z]{26}$'),
  organization_id text not null references organizations,
  project_slug text not null
    constraint projects_slug_shape check (project_slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$')
    constraint projects_slug_taken unique,
  name text not null check (char_length(name) between 1 and 120),
  delivery_access text not null default 'public' check (delivery_access in ('public', 'protected')),
  cors_allowed_origins text[] not null default '{}',
  resolution_presets jsonb not null default '{}' check (jsonb_typeof(resolution_presets) = 'object')
    constraint projects_at_most_32_resolution_presets
      check (jsonb_array_length(jsonb_path_query_array(resolution_presets, '$.*')) <= 32),
  allowed_transform_chains text[] not null default '{}' check (cardinality(allowed_transform_chains) <= 64),
  default_watermark_preset_id text,
  raw_download_enabled boolean not null default false,
  callback_url text,
  callback_secret_sealed bytea,
  previous_callback_secret_sealed bytea,
  previous_callback_secret_until timestamptz(3),
  callback_rotation_trigger text,
  status text not null default 'active' check (status in ('active', 'suspended')),
  suspended_by text check (suspended_by in ('owner', 'staff')),
  storage_hard_limit_bytes bigint check (storage_hard_limit_bytes >= 0),
  nudity_auto_block boolean not null default false,
  file_count bigint not null default 0 constraint projects_file_count_positive check (file_count >= 0),
  storage_bytes bigint not null default 0 constraint projects_storage_bytes_positive check (storage_bytes >= 0),
  reserved_bytes bigint not null default 0 constraint projects_reserved_bytes_positive check (reserved_bytes >= 0),
  generation bigint not null default 1 check (generation >= 1),
  version bigint not null default 1 check (version >= 1),
  owner_uid text constraint projects_owner_uid_taken unique,
  owner_namespace text,
  owner_name text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint projects_suspension_names_its_author
    check ((status = 'suspended') = (suspended_by is not null)),
  constraint projects_callback_has_secret
    check ((callback_url is null) = (callback_secret_sealed is null)),
  constraint projects_previous_secret_ends
    check ((previous_callback_secret_sealed is null) = (previous_callback_secret_until is null)),
  constraint projects_in_organization unique (project_id, organization_id),
  constraint projects_owner_whole
    check (num_nulls(owner_uid, owner_namespace, owner_name) in (0, 3))
);
create trigger projects_slug_fixed before update of project_slug on projects
  for each row when (new.project_slug <> old.project_slug) execute function refuse_row();
create index projects_of_organization on projects (organization_id, created_at desc, project_id desc);
create index projects_newest_first on projects (created_at desc, project_id desc);
comment on table projects is 'A tenant''s image library with its delivery host and settings.';
comment on column projects.project_slug is 'DNS label; never changes.';
comment on column projects.resolution_presets is 'Name to transform chain, at most 32.';
comment on column projects.callback_secret_sealed is 'AES-256-GCM under a key of the environment; exists exactly while there is a callback_url.';
comment on column projects.previous_callback_secret_sealed is 'Signs beside the new secret until previous_callback_secret_until.';
comment on column projects.callback_rotation_trigger is 'The rotation trigger of the declaring resource that was applied last.';
comment on column projects.storage_hard_limit_bytes is 'Set by staff; null: the allowance of the organization''s plan.';
comment on column projects.file_count is 'Files that are ready or blocked.';
comment on column projects.storage_bytes is 'Bytes of the masters of the current revisions of those files.';
comment on column projects.reserved_bytes is 'Declared bytes of uploads under way: the sum of uploads.reserved_bytes.';
comment on column projects.generation is 'Part of every cache key: raised to forget all of the project''s derived images.';
comment on column projects.version is 'Raised by each change of settings: what an If-Match compares.';
comment on column projects.owner_uid is 'UID of the custom resource that declares this project, with its namespace and name.';

create table project_domains (
  domain text primary key
    constraint project_domains_shape
      check (char_length(domain) <= 253 and domain ~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  project_id text not null references projects,
  position smallint not null check (position between 1 and 32),
  created_at timestamptz(3) not null default now(),
  constraint project_domains_at_most_32 unique (project_id, position)
);
comment on table project_domains is 'Custom delivery hosts that staff added.';
comment on column project_domains.position is 'Place in the project''s list: 1 to 32, which bounds their number.';

create table project_pricing (
  project_id text not null references projects,
  effective_from timestamptz(3) not null,
  multiplier numeric(10, 6) not null check (multiplier between 0 and 1000),
  created_at timestamptz(3) not null default now(),
  primary key (project_id, effective_from),
  constraint project_pricing_from_full_hour
    check (effective_from = date_trunc('hour', effective_from, 'UTC'))
);
comment on table project_pricing is 'Pricing multipliers by the hour from which they apply; before the first one it is 1.';

create table api_keys (
  key_id text primary key check (key_id ~ '^key_[0-9a-z]{26}$'),
  project_id text not null references projects,
  name text not null check (char_length(name) between 1 and 120),
  scopes text[] constraint api_keys_scopes_known check (
    cardinality(scopes) > 0 and scopes <@ array[
      'files:read', 'files:write', 'urls:sign', 'recipes:read', 'recipes:write', 'library:sessions'
    ]),
  secret_sha256 text not null unique check (secret_sha256 ~ '^[0-9a-f]{64}$'),
  prefix text not null check (char_length(prefix) <= 32),
  last_four text not null check (char_length(last_four) = 4),
  status text not null default 'active' check (status in ('active', 'revoked')),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint api_keys_revoked_at_a_time check ((status = 'revoked') = (revoked_at is not null))
);
create index api_keys_of_project on api_keys (project_id, created_at desc, key_id desc);
create index api_keys_active on api_keys (project_id) where status = 'active';
comment on table api_keys is 'Credentials of server code, bound to one project; at most 100 of a project are active.';

-- Counted under the project's row lock, so that parallel transactions cannot exceed the limit
-- together.
create function check_active_api_keys() returns trigger language plpgsql as $$
begin
  perform from projects where project_id = new.project_id for no key update;
  if (select count(*) from api_keys where project_id = new.project_id and status = 'active') > 100 then
    raise check_violation using constraint = tg_name, table = tg_table_name,
      message = 'the project has more than 100 active API keys';
  end if;
  return null;
end
$$;
create constraint trigger api_keys_at_most_100_active
  after insert or update of status, project_id on api_keys
  for each row when (new.status = 'active') execute function check_active_api_keys();
comment on column api_keys.scopes is 'Null: full access, also to scopes that come later.';
comment on column api_keys.secret_sha256 is 'The secret itself is nowhere: 144 random bits need no slow hash.';
comment on column api_keys.last_used_at is 'Coarse: written at most once a minute.';

create table signing_keys (
  kid text primary key check (kid ~ '^kid_[0-9a-z]{26}$'),
  project_id text not null references projects,
  secret_sealed bytea not null,
  status text not null default 'active' check (status in ('active', 'retired')),
  retire_after timestamptz(3),
  rotation_trigger text,
  owner_uid text,
  owner_namespace text,
  owner_name text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint signing_keys_retired_has_an_end check ((status = 'retired') = (retire_after is not null)),
  constraint signing_keys_owner_whole check (num_nulls(owner_uid, owner_namespace, owner_name) in (0, 3))
);
create unique index signing_keys_one_active on signing_keys (project_id) where status = 'active';
create index signing_keys_of_project on signing_keys (project_id, created_at desc, kid desc);
comment on table signing_keys is 'Secrets that sign delivery URLs: one active a project, its predecessors verify until their retire_after.';
comment on column signing_keys.secret_sealed is 'AES-256-GCM under a key of the environment.';
comment on column signing_keys.retire_after is 'Verifies until then.';
comment on column signing_keys.rotation_trigger is 'The rotation trigger of the declaring resource for which this key was made.';

-- Down Migration

drop table signing_keys;
drop table api_keys;
drop function check_active_api_keys;
drop table project_pricing;
drop table project_domains;
drop table projects;

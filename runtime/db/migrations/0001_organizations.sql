-- Organizations, the people in them and what they may use. Spec: Organization; Organization quota.
-- Up Migration

-- For triggers named after their rule, like a constraint, with the violation as their condition.
create function refuse_row() returns trigger language plpgsql as $$
begin
  raise check_violation using constraint = tg_name, table = tg_table_name,
    message = format('row of "%s" violates "%s"', tg_table_name, tg_name);
end
$$;
comment on function refuse_row is 'What a trigger runs whose condition is the violation of the rule that it is named after.';

create table organizations (
  organization_id text primary key check (organization_id ~ '^org_[0-9a-z]{26}$'),
  name text not null check (char_length(name) between 1 and 120),
  namespace text unique check (namespace <> ''),
  plan text not null default 'trial' check (plan ~ '^[a-z][a-z0-9_-]{0,62}$'),
  credit_balance bigint not null default 0,
  quota_exceeded_at timestamptz(3),
  billing_exempt boolean not null default false,
  billing_exempt_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organizations_exempt_is_never_over_quota
    check (not billing_exempt or quota_exceeded_at is null)
);
create index organizations_newest_first on organizations (created_at desc, organization_id desc);
comment on table organizations is 'Owners of projects and of a credit balance.';
comment on column organizations.namespace is 'The Kubernetes namespace this organization was made for; null where a person''s first login made it.';
comment on column organizations.plan is 'Name of a plan of the deployment; the plan says credits a month and storage a project.';
comment on column organizations.credit_balance is 'Credits: grants minus ledger entries, changed only together with one of the two; may go below zero.';
comment on column organizations.quota_exceeded_at is 'Set while over quota: deliveries are then refused.';
comment on column organizations.billing_exempt is 'Whether an interval of organization_exemptions is open now.';
comment on column organizations.billing_exempt_until is 'When the last exemption ended.';

create table organization_exemptions (
  organization_id text not null references organizations,
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3),
  primary key (organization_id, starts_at),
  constraint organization_exemptions_end_after_start check (ends_at >= starts_at)
);
create unique index organization_exemptions_one_open
  on organization_exemptions (organization_id) where ends_at is null;
comment on table organization_exemptions is 'Intervals of free usage: an hour that one of them touches is never billed, also not by a later recompute.';
comment on column organization_exemptions.ends_at is 'Null while the exemption lasts.';

-- An exclusion constraint over a text and a range would need the extension btree_gist. Transactions
-- are serialized by the lock on the organization's row; reads after the lock see what the previous
-- holder committed.
create function check_exemption_overlap() returns trigger language plpgsql as $$
begin
  perform from organizations where organization_id = new.organization_id for no key update;
  if exists (
    select from organization_exemptions e
    where e.organization_id = new.organization_id and e.starts_at <> new.starts_at
      and tstzrange(e.starts_at, e.ends_at) && tstzrange(new.starts_at, new.ends_at)
  ) then
    raise exclusion_violation using constraint = tg_name, table = tg_table_name,
      message = 'the exemption overlaps another one of its organization';
  end if;
  return null;
end
$$;
create constraint trigger organization_exemptions_apart
  after insert or update on organization_exemptions
  for each row execute function check_exemption_overlap();

create table users (
  user_id text primary key check (user_id ~ '^usr_[0-9a-z]{26}$'),
  subject text not null unique check (char_length(subject) between 1 and 255),
  organization_id text not null references organizations,
  role text not null default 'owner' check (role in ('owner')),
  email text check (char_length(email) <= 254),
  first_name text check (char_length(first_name) <= 120),
  last_name text check (char_length(last_name) <= 120),
  name text check (char_length(name) <= 120),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index users_of_organization on users (organization_id);
comment on table users is 'People of the dashboard, made at their first login; each has one organization.';
comment on column users.subject is 'The sub of the identity provider''s token: the only thing that authorizes.';
comment on column users.email is 'As a header of the first login said, like the names: for display only.';

create table credit_grants (
  grant_id bigint generated always as identity primary key,
  organization_id text not null references organizations,
  credits bigint not null check (credits > 0),
  source text not null check (source in ('trial', 'plan', 'staff', 'provider_a', 'provider_b')),
  external_id text not null check (char_length(external_id) between 1 and 255),
  created_at timestamptz(3) not null default now(),
  constraint credit_grants_once unique (source, external_id)
);
create index credit_grants_of_organization on credit_grants (organization_id, created_at desc);
comment on table credit_grants is 'Credits that were added to a balance, in one transaction with it; they add up and never expire.';
comment on column credit_grants.external_id is 'What makes the grant happen once: the provider''s event, or the organization of a trial.';

-- Down Migration

drop table credit_grants;
drop table users;
drop table organization_exemptions;
drop function check_exemption_overlap;
drop table organizations;
drop function refuse_row;

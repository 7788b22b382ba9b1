-- Who asked for access on the marketing site. Spec: Public, access-requests.
-- Up Migration

create table access_requests (
  access_request_id text collate "C" primary key,
  email text not null check (char_length(email) between 3 and 254),
  name text,
  company text,
  url text,
  message text,
  use_case text,
  plan_interest text check (plan_interest in ('starter', 'builder', 'growth', 'unsure')),
  locale text,
  status text not null default 'new',
  created_at timestamptz(3) not null default now()
);
create index access_requests_by_age on access_requests (created_at desc, access_request_id desc);
comment on table access_requests is 'As sent; nothing tells from where.';

-- Down Migration

drop table access_requests;

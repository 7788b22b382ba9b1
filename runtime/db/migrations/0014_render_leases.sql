-- At most one render of an image in the whole installation. Spec: Delivery host.
-- Up Migration

-- Unlogged: after a crash nobody is rendering any more, so an empty table is correct.
create unlogged table render_leases (
  derived_key text primary key,
  lease_id text not null,
  expires_at timestamptz not null,
  stored_at timestamptz
);
comment on table render_leases is 'Who renders a derived image now, and which were stored a moment ago.';

create index render_leases_expired on render_leases (expires_at);

-- Down Migration

drop table render_leases;

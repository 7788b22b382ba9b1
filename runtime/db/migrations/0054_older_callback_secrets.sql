-- When a callback secret is rotated twice within a day, the older ones continue to sign for a day of their own. Spec:
-- Events, Signature rules.
-- Up Migration

create table older_callback_secrets (
  project_id text not null references projects,
  signs_until timestamptz(3) not null,
  secret_sealed bytea not null,
  primary key (project_id, signs_until, secret_sealed)
);
comment on table older_callback_secrets is 'Secrets from before projects.previous_callback_secret_sealed that still sign along.';
comment on column older_callback_secrets.secret_sealed is 'AES-256-GCM under a key of the environment; gone a day after it signed for the last time.';

-- Down Migration

drop table older_callback_secrets;

-- Secrets that no longer verify anything are erased. Spec: Signing key; Events, Signature rules.
-- Up Migration

create index signing_keys_to_erase on signing_keys (retire_after) where status = 'retired' and secret_sealed <> '';
comment on column signing_keys.secret_sealed is 'AES-256-GCM under a key of the environment; empty a day after it verified for the last time.';

-- Down Migration

drop index signing_keys_to_erase;
comment on column signing_keys.secret_sealed is 'AES-256-GCM under a key of the environment.';

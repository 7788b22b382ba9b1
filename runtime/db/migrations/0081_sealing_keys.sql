-- The key that each secret was sealed under, so that a start finds a key that is missing, and the job reseal what is
-- still under an old one. Spec: Signing key; Events, Signature rules.
-- Up Migration

create function sealing_key(sealed bytea) returns text language sql immutable parallel safe as $$
  select case when octet_length(sealed) > 2 and get_byte(sealed, 0) = 1
    then encode(substr(sealed, 3, get_byte(sealed, 1)), 'escape') end
$$;
comment on function sealing_key is 'The id of the key in the envelope of a sealed value; null if it is none.';

create index signing_keys_by_sealing_key on signing_keys (sealing_key(secret_sealed), kid)
  where sealing_key(secret_sealed) is not null;
create index projects_by_sealing_key on projects (sealing_key(callback_secret_sealed), project_id)
  where sealing_key(callback_secret_sealed) is not null;
create index projects_by_previous_sealing_key on projects (sealing_key(previous_callback_secret_sealed), project_id)
  where sealing_key(previous_callback_secret_sealed) is not null;
create index older_callback_secrets_by_sealing_key on older_callback_secrets (sealing_key(secret_sealed), project_id)
  where sealing_key(secret_sealed) is not null;
create index idempotency_keys_by_sealing_key on idempotency_keys (sealing_key(sealed_answer), claim_id)
  where sealing_key(sealed_answer) is not null;

-- Down Migration

drop index idempotency_keys_by_sealing_key;
drop index older_callback_secrets_by_sealing_key;
drop index projects_by_previous_sealing_key;
drop index projects_by_sealing_key;
drop index signing_keys_by_sealing_key;
drop function sealing_key(bytea);

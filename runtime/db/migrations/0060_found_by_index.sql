-- A SigningKey resource finds its key in each look, and a page of the audit trail the entries of one action, however much
-- there is beside them. Mints are most of the trail: who asks for them reads it from its newest entry. Spec: Signing key;
-- Staff (all require Staff).
-- Up Migration

create index signing_keys_active_of_owner on signing_keys (owner_uid) where status = 'active' and owner_uid is not null;

create index audit_log_of_action on audit_log (action, created_at desc, audit_id desc)
  where action <> 'signed_url.mint';

-- Down Migration

drop index audit_log_of_action;

drop index signing_keys_active_of_owner;

-- A SigningKey resource looks up its key in every pass, and a page of the audit log the entries of one action, however
-- many others there are. Mints are most of the log: a reader who filters for them reads from its newest entry. Spec:
-- Signing key; Staff (all require Staff).
-- Up Migration

create index signing_keys_active_of_owner on signing_keys (owner_uid) where status = 'active' and owner_uid is not null;

create index audit_log_of_action on audit_log (action, created_at desc, audit_id desc)
  where action <> 'signed_url.mint';

-- Down Migration

drop index audit_log_of_action;

drop index signing_keys_active_of_owner;

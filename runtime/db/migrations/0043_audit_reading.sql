-- The audit log is read by target and by actor. Spec: Staff (all require Staff).
-- Up Migration

create index audit_log_newest on audit_log (created_at desc, audit_id desc);
create index audit_log_of_target on audit_log (target, created_at desc, audit_id desc);
create index audit_log_of_actor on audit_log (actor_id, created_at desc, audit_id desc);
drop index audit_log_by_age;

-- Down Migration

create index audit_log_by_age on audit_log (created_at);
drop index audit_log_of_actor;
drop index audit_log_of_target;
drop index audit_log_newest;

-- A tenant reports the request that surprised him: its audit entries are found by it. Spec: Staff (all require Staff).
-- Up Migration

create index audit_log_of_request on audit_log (request_id, created_at desc, audit_id desc)
  where request_id is not null;

-- Down Migration

drop index audit_log_of_request;

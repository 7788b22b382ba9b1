-- As for uploads: using the index of waiting checks by time requires a condition. Spec: Staff, checks.
-- Up Migration

create index scanner_checks_waiting_anew on scanner_checks (created_at)
  where status in ('queued', 'scanning') and created_at > '-infinity';
drop index scanner_checks_waiting;
alter index scanner_checks_waiting_anew rename to scanner_checks_waiting;

-- Down Migration

create index scanner_checks_waiting_anew on scanner_checks (created_at) where status in ('queued', 'scanning');
drop index scanner_checks_waiting;
alter index scanner_checks_waiting_anew rename to scanner_checks_waiting;

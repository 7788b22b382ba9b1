-- Scans take turns between projects. Spec: Staff, checks.
-- Up Migration

create index scanner_checks_waiting_of_project on scanner_checks (project_id, created_at)
  where status in ('queued', 'scanning');

-- Down Migration

drop index scanner_checks_waiting_of_project;

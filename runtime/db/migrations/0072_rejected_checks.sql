-- What staff rejected in a project is found without its other checks. Spec: Staff, projects.
-- Up Migration

create index scanner_checks_rejected_of_project on scanner_checks (project_id) where review = 'rejected';

-- Down Migration

drop index scanner_checks_rejected_of_project;

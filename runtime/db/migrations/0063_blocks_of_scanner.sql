-- Finds what the scanner blocked in a project, however many files it has. Spec: Staff (projects).
-- Up Migration

create index files_blocked_by_scanner on files (project_id, file_id) where blocked_by = 'scanner';

-- Down Migration

drop index files_blocked_by_scanner;

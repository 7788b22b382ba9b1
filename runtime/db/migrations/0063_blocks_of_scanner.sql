-- What the scanner blocked in a project is found among its files, however many they are. Spec: Staff (projects).
-- Up Migration

create index files_blocked_by_scanner on files (project_id, file_id) where blocked_by = 'scanner';

-- Down Migration

drop index files_blocked_by_scanner;

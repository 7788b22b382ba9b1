-- A lease of a scan that was put off is also the pause before its next attempt. Spec: Other state sets.
-- Up Migration

comment on column scanner_checks.lease_until is 'Nobody takes it up before: the end of a scan under way, or of a pause.';
comment on column scanner_checks.attempts is 'Scans that were begun; the number of one is its right to write what it found.';

-- Down Migration

comment on column scanner_checks.lease_until is 'While it is scanned: when the scan counts as lost.';
comment on column scanner_checks.attempts is null;

-- An unblock also decides about a picture that is not scanned yet. Spec: File (status); Staff, checks.
-- Up Migration

comment on table check_reviews is 'Every decision on a flagged check, the last one counts; and that staff let a picture go whose check waited, which approves it if it is flagged.';

-- Down Migration

comment on table check_reviews is 'Every decision on a flagged check; the last one counts.';

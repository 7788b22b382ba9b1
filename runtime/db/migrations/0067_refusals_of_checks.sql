-- A scan put off because something is unavailable does not count towards giving a picture up. Spec: Staff, checks.
-- Up Migration

alter table scanner_checks
  add column refusals smallint not null default 0 check (refusals >= 0);
comment on column scanner_checks.refusals is 'How often the scanner, or who draws the picture for it, looked at this one and said nothing of it.';

-- Down Migration

alter table scanner_checks
  drop column refusals;

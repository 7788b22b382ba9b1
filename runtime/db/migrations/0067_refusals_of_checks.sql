-- A scan that is put off while something is away is none of those after which a picture is given up. Spec: Staff, checks.
-- Up Migration

alter table scanner_checks
  add column refusals smallint not null default 0 check (refusals >= 0);
comment on column scanner_checks.refusals is 'How often the scanner, or who draws the picture for it, looked at this one and said nothing of it.';

-- Down Migration

alter table scanner_checks
  drop column refusals;

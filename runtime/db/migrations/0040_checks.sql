-- What the automatic scanner found in each revision of a file, and what staff decided. Spec: Staff; Other state sets.
-- Up Migration

create table scanner_checks (
  check_id text collate "C" primary key,
  project_id text not null references projects,
  file_id text not null references files,
  revision integer not null check (revision >= 1),
  status text not null default 'queued'
    constraint scanner_checks_status check (status in ('queued', 'scanning', 'clear', 'flagged', 'failed')),
  review text not null default 'unreviewed'
    constraint scanner_checks_review check (review in ('unreviewed', 'approved', 'rejected')),
  flags text[] not null default '{}',
  scores jsonb not null default '{}',
  attempts integer not null default 0 check (attempts >= 0),
  lease_until timestamptz(3),
  scanned_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint scanner_checks_reviewed check (review = 'unreviewed' or status = 'flagged'),
  constraint scanner_checks_flags check ((status = 'flagged') = (flags <> '{}')),
  constraint scanner_checks_once unique (file_id, revision)
);
create index scanner_checks_by_age on scanner_checks (created_at desc, check_id desc);
create index scanner_checks_of_project on scanner_checks (project_id, created_at desc, check_id desc);
create index scanner_checks_to_review on scanner_checks (created_at desc, check_id desc)
  where status = 'flagged' and review = 'unreviewed';
create index scanner_checks_waiting on scanner_checks (created_at) where status in ('queued', 'scanning');
comment on table scanner_checks is 'One row for each revision of a file that was scanned, or is to be.';
comment on column scanner_checks.review is 'The last decision of staff; only a flagged check has one.';
comment on column scanner_checks.scores is 'From 0 to 1 for each thing that the scanner looks for.';
comment on column scanner_checks.lease_until is 'While it is scanned: when the scan counts as lost.';

create table check_reviews (
  review_id text collate "C" primary key,
  check_id text not null references scanner_checks on delete cascade,
  decision text not null check (decision in ('approved', 'rejected')),
  note text check (char_length(note) between 1 and 4000),
  reviewer text not null,
  created_at timestamptz(3) not null default now()
);
create index check_reviews_of_check on check_reviews (check_id, created_at desc, review_id desc);
comment on table check_reviews is 'Every decision on a flagged check; the last one counts.';
comment on column check_reviews.reviewer is 'Subject of whoever decided.';

-- Down Migration

drop table check_reviews;
drop table scanner_checks;

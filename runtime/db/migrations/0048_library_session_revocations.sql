-- Since when library sessions of a project, or of one subject, are invalid. Spec: Library session; Rules 6.
-- Up Migration

create table library_session_revocations (
  project_id text not null references projects,
  uploader bytea not null,
  revoked_at timestamptz(3) not null default now(),
  primary key (project_id, uploader)
);
create index library_session_revocations_by_age on library_session_revocations (revoked_at);
comment on table library_session_revocations is 'Sessions that were minted before revoked_at are refused. Kept for longer than any session lives.';
comment on column library_session_revocations.uploader is 'Pseudonym of the subject; empty: every subject.';

-- Down Migration

drop table library_session_revocations;

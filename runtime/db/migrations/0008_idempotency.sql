-- Responses to calls with an Idempotency-Key. Spec: Conventions.
-- Up Migration

create table idempotency_keys (
  caller text not null check (char_length(caller) <= 255),
  project_slug text not null check (char_length(project_slug) <= 63),
  idempotency_key text not null check (char_length(idempotency_key) between 1 and 255),
  request_hash bytea not null check (octet_length(request_hash) = 32),
  claim_id text not null check (char_length(claim_id) <= 64),
  lease_until timestamptz(3) not null,
  status smallint check (status between 200 and 299),
  sealed_answer bytea,
  created_at timestamptz(3) not null default now(),
  primary key (caller, project_slug, idempotency_key),
  constraint idempotency_keys_answer_whole check ((status is null) = (sealed_answer is null))
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
comment on table idempotency_keys is 'Calls that came with an Idempotency-Key, and their answers for a day. A call that was refused leaves no row.';
comment on column idempotency_keys.caller is 'The API key or the user that sent it; a key of one caller says nothing to another.';
comment on column idempotency_keys.project_slug is 'As in the path; empty where the path names no project.';
comment on column idempotency_keys.request_hash is 'SHA-256 over method, path and body: the same key with others is a mistake.';
comment on column idempotency_keys.claim_id is 'Of the call that is working on it; a call whose claim was taken over cannot store its effect.';
comment on column idempotency_keys.lease_until is 'A claim without an answer counts until then; afterwards its process is taken for dead.';
comment on column idempotency_keys.sealed_answer is 'The body as JSON, encrypted: it can hold secrets. Null while the call is worked on.';

-- Down Migration

drop table idempotency_keys;

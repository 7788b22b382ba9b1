-- Rows that were declared in another cluster: an operator that begins to lead here must not treat a resource as deleted
-- that never was in its own cluster. Spec: Project.
-- Up Migration

alter table operator_terms add column lease_uid text;
comment on column operator_terms.lease_uid is 'Which Lease of that name it is: another cluster has another one. Null: of a version that did not say.';

create table owners_elsewhere (
  owner_uid text primary key
);
comment on table owners_elsewhere is 'Resources of before the newest leader''s Lease. Their rows are let go of by nobody until a resource of this cluster has taken them up, or turned out to be the one.';

-- Down Migration

drop table owners_elsewhere;
alter table operator_terms drop column lease_uid;

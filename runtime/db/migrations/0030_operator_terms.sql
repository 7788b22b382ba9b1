-- Which leader of the operator may write. Spec: Project.
-- Up Migration

create table operator_terms (
  lease text primary key,
  epoch bigint not null constraint operator_terms_epoch_counts check (epoch > 0),
  holder text not null,
  began_at timestamptz(3) not null default now()
);
comment on table operator_terms is 'The newest term of each operator. Every transaction of a leader locks its row for sharing and ends where the term is not its own: one that was frozen cannot write after its successor.';
comment on column operator_terms.lease is 'Namespace and name of the Lease that the operators of one installation contend for.';
comment on column operator_terms.epoch is 'Grows with every leader, also where the Lease was deleted and begins anew.';
comment on column operator_terms.holder is 'The process that leads: two may have one number, where a lease was deleted while the database was away.';

-- Down Migration

drop table operator_terms;

-- The data of the status page: samples of each service, and incidents. Spec: Public, status; Staff, incidents.
-- Up Migration

create table incidents (
  incident_id text collate "C" primary key,
  title text not null,
  services text[] not null constraint incidents_services check (services <> '{}'),
  severity text not null check (severity in ('minor', 'major', 'critical')),
  body text not null check (char_length(body) <= 4000),
  automatic boolean not null,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint incidents_end check (ended_at >= started_at)
);
create index incidents_by_age on incidents (created_at desc, incident_id desc);
create index incidents_by_end on incidents (ended_at);
create unique index incidents_one_automatic on incidents (services) where automatic and ended_at is null;
comment on table incidents is 'Opened by staff, or by failed samples of a service.';
comment on column incidents.automatic is 'Opened and closed by samples; staff do not change it.';

create table status_samples (
  service text not null,
  sampled_at timestamptz(3) not null,
  ok boolean not null,
  duration_ms integer not null check (duration_ms >= 0),
  primary key (service, sampled_at)
);
create index status_samples_by_age on status_samples (sampled_at);
comment on table status_samples is 'One row for each service and minute: whether it did its work.';

-- Down Migration

drop table status_samples;
drop table incidents;
